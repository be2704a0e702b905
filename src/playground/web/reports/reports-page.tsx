import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { ClosesDialog } from './closes-dialog';
import { HomePage } from '../home/home-page';
import { listSavedReports, type SavedReport } from '../dialogs/saved-reports';
import { findToday } from '../../../values/periods';
import { toKnownZone } from '../values/periods';
import { useArrowMenu } from '../look/arrow-menu';
import { FaultBoundary } from '../look/fault-boundary';
import { TryAgain } from '../look/try-again';
import { NO_REPORT, type PageMode, type SetMode } from './page-mode';
import { mayClose, mayReadDonors, type Viewer } from '../session/gateway-client';
import { useTableClient } from '../rows/table-client';
import { carryChoices, defaultChoices, type ReportChoices } from '../choices/report-choices';
import { definitionOf, reportDefinitions, type ReportId } from '../choices/report-definitions';
import { ReportView } from './report-view';
import { findUnreadSaved, readSavedChoices } from './saved-choices';
import { SavedView } from './saved-view';

/** More than these are in the list of all saved reports alone. */
const MAX_LISTED = 12;

interface ReportsPageProps {
  readonly provision: string;
  readonly viewer: Viewer;
  readonly mode: PageMode;
  readonly setMode: SetMode;
  readonly onSessionChange: () => void;
  readonly onShowGraphql: (texts: { readonly query: string; readonly variables: string }) => void;
}

/** The list of reports, and beside it the home or the report that was chosen. */
export default function ReportsPage({ provision, viewer, mode, setMode, onSessionChange, onShowGraphql }: ReportsPageProps) {
  const client = useTableClient(viewer.username);
  const { choices, view: linked, saved: savedName } = mode.kind === 'reports' ? mode : NO_REPORT;
  const start = useCallback((next: ReportChoices) => setMode({ kind: 'reports', choices: next }), [setMode]);
  const report = choices?.report;
  /** The choices of a saved report may be changed while it is open. */
  const change = useCallback(
    (next: ReportChoices) => setMode({ kind: 'reports', choices: next, saved: next.report === report ? savedName : undefined }),
    [setMode, report, savedName],
  );
  const page = useRef<HTMLDivElement>(null);
  const menu = useArrowMenu<HTMLDivElement>();
  const menuButton = useRef<HTMLButtonElement>(null);
  /** On a narrow page the menu is one line until somebody opens it. */
  const [isMenuOpen, setIsMenuOpen] = useState(false);
  const place = `${mode.kind} ${choices?.report ?? ''}`;
  const lastPlace = useRef(place);
  // The button that opens a report goes with the view that it stands in, and the focus would be lost with it.
  useEffect(() => {
    if (lastPlace.current !== place && document.activeElement === document.body) page.current?.querySelector('main')?.focus();
    lastPlace.current = place;
  }, [place]);
  const readsDonors = mayReadDonors(viewer);
  const timeZone = toKnownZone(viewer.timeZone);
  const offered = (Object.keys(reportDefinitions) as ReportId[]).filter((id) => readsDonors || !definitionOf(id).isPersonal);
  const [saved, setSaved] = useState<readonly SavedReport[]>([]);
  const [savedProblem, setSavedProblem] = useState('');
  const load = useCallback(() => {
    if (!readsDonors) return;
    listSavedReports(provision).then(
      (reports) => {
        setSaved(reports);
        setSavedProblem('');
      },
      // The list stays as it was: a report that cannot be listed is not gone.
      () => setSavedProblem('The saved reports could not be read.'),
    );
  }, [provision, readsDonors]);
  useEffect(load, [load, mode.kind]);
  useEffect(() => {
    window.addEventListener('online', load);
    return () => window.removeEventListener('online', load);
  }, [load]);
  const open = useCallback(
    (report: SavedReport) => {
      const its = readSavedChoices(report);
      setSaved((before) => (before.some(({ name }) => name === report.name) ? before : [...before, report]));
      // A link to a saved report gives its place to the report, or to the list. Otherwise Back would lead from the report to the link, and on
      // to the report.
      const isLink = mode.kind === 'saved' && mode.name !== '';
      if (its) return setMode({ kind: 'reports', choices: its, unread: findUnreadSaved(report.query), saved: report.name }, !isLink);
      if (isLink) setMode(NO_REPORT, false);
      onShowGraphql({ query: report.query, variables: JSON.stringify(report.variables, null, 2) });
    },
    [setMode, onShowGraphql, mode],
  );
  const opened = saved.find(({ name }) => name === savedName);
  const keep = useCallback(
    (name: string | undefined): void => {
      load();
      if (name !== undefined && mode.kind === 'reports') setMode({ ...mode, saved: name }, false);
    },
    [load, mode, setMode],
  );
  const placeName =
    mode.kind === 'home'
      ? 'Home'
      : mode.kind === 'saved'
        ? 'All saved reports'
        : report === undefined
          ? 'All reports'
          : definitionOf(report).title;
  const menuPlace = `${place} ${savedName ?? ''}`;
  useEffect(() => setIsMenuOpen(false), [menuPlace]);
  const closeMenu = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape' || !isMenuOpen) return;
    setIsMenuOpen(false);
    menuButton.current?.focus();
  };
  const listed = saved.filter((each, place) => place < MAX_LISTED || each === opened);
  return (
    <div ref={page} className="reports-page">
      <nav className="reports-nav" aria-label="Reports" onKeyDown={closeMenu}>
        <button
          ref={menuButton}
          type="button"
          className="menu-button"
          aria-expanded={isMenuOpen}
          onClick={() => setIsMenuOpen((before) => !before)}
        >
          <span aria-hidden="true">☰</span>
          <span>{opened?.title ?? placeName}</span>
          <span aria-hidden="true">▾</span>
        </button>
        <div ref={menu} className="reports-menu" data-open={isMenuOpen ? '' : undefined}>
          <h2>Reports</h2>
          <ul>
            {offered.map((id) => (
              <li key={id}>
                <button
                  type="button"
                  aria-current={report === id && !opened ? 'page' : undefined}
                  onClick={() => start(carryChoices(id, choices))}
                >
                  {definitionOf(id).title}
                </button>
              </li>
            ))}
            {mayClose(viewer) && (
              <li>
                <ClosesDialog {...{ provision, timeZone }} now={findToday({ ...viewer, timeZone })} />
              </li>
            )}
          </ul>
          {readsDonors && (
            <>
              <h2>Saved</h2>
              {/* The home and the list of all tell of it themselves. */}
              {savedProblem !== '' && mode.kind === 'reports' && <TryAgain message={savedProblem} onTryAgain={load} />}
              <ul>
                {listed.map((report) => (
                  <li key={report.name}>
                    <button type="button" aria-current={report === opened ? 'page' : undefined} onClick={() => open(report)}>
                      {report.title}
                    </button>
                  </li>
                ))}
                <li>
                  <button
                    type="button"
                    aria-current={mode.kind === 'saved' ? 'page' : undefined}
                    onClick={() => setMode({ kind: 'saved', name: '' })}
                  >
                    All saved reports
                  </button>
                </li>
              </ul>
            </>
          )}
        </div>
      </nav>
      {mode.kind === 'home' ? (
        <HomePage {...{ provision, viewer, saved, savedProblem, onSessionChange }} onListAgain={load} />
      ) : mode.kind === 'saved' ? (
        <SavedView provision={provision} name={mode.name} onOpen={open} onListed={setSaved} />
      ) : choices && offered.includes(choices.report) ? (
        <FaultBoundary key={choices.report} part="This report" resetKeys={[choices]}>
          <ReportView
            {...{ provision, viewer, client, choices, linked, onSessionChange, onShowGraphql }}
            onChange={change}
            saved={opened}
            onSaved={keep}
          />
        </FaultBoundary>
      ) : (
        <main className="report" tabIndex={-1}>
          <h2>What do you want to know?</h2>
          <p>
            Choose a report, then a period. Every figure counts each gift once and says whether pending deposits are in it, and every table
            goes into a spreadsheet as it stands.
          </p>
          {!choices && !readsDonors && <p>Reports of donors are left out, which you may not read. Ask your administrator for the right.</p>}
          {choices && (
            <p className="problem">You may not read this report, because it shows donors. Ask your administrator for the right.</p>
          )}
          <div className="report-actions">
            <button type="button" className="main-button" onClick={() => start(defaultChoices('designations'))}>
              Try it: what each fund received last month
            </button>
          </div>
          <ul className="report-list">
            {offered.map((id) => (
              <li key={id}>
                <button type="button" onClick={() => start(defaultChoices(id))}>
                  <strong>{definitionOf(id).title}</strong>
                  <span>{definitionOf(id).answers}</span>
                </button>
              </li>
            ))}
          </ul>
        </main>
      )}
    </div>
  );
}
