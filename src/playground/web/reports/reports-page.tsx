import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { ClosesDialog } from './closes-dialog';
import type { KeptTie } from '../bank/use-bank-tie';
import { HomePage } from '../home/home-page';
import type { SavedReport } from '../dialogs/saved-reports';
import type { OpenedReport } from '../values/saved-names';
import { useSavedReports } from '../dialogs/use-saved-reports';
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
import { findOpened, findUnreadSaved, inLinkedState, isChangedFrom, openAs, readSavedChoices, settleSaved } from './saved-choices';
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
  const { choices, view: linked, saved, lost } = mode.kind === 'reports' ? mode : NO_REPORT;
  const start = useCallback((next: ReportChoices) => setMode({ kind: 'reports', choices: next }), [setMode]);
  const report = choices?.report;
  /** The choices of a saved report may be changed while it is open. */
  const change = useCallback(
    (next: ReportChoices) => setMode({ kind: 'reports', choices: next, saved: next.report === report ? saved : undefined }),
    [setMode, report, saved],
  );
  const page = useRef<HTMLDivElement>(null);
  const keptTie = useRef<KeptTie>(undefined);
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
  const [isClosing, setIsClosing] = useState(false);
  const list = useSavedReports(provision, readsDonors, onSessionChange);
  const { read } = list;
  const opened = saved && choices && findOpened(list.reports, saved.name, choices);
  const isLost = saved !== undefined && list.isRead && !opened;
  /** The name of an address, of which nobody knows yet whether it is that of a saved report of this kind. */
  const named = saved?.updatedAt === undefined ? saved?.name : undefined;
  useEffect(() => {
    // The view of saved reports reads them itself.
    if (!readsDonors || mode.kind === 'saved') return undefined;
    let isLeft = false;
    void read().then((reports) => {
      if (!isLeft && reports) setMode((now) => (now.kind === 'reports' ? settleSaved(now, reports) : now), false);
    });
    return () => {
      isLeft = true;
    };
  }, [read, readsDonors, mode.kind, named, isLost, setMode]);
  const readAgain = useCallback(() => void read(), [read]);
  useEffect(() => {
    if (!readsDonors) return undefined;
    window.addEventListener('online', readAgain);
    return () => window.removeEventListener('online', readAgain);
  }, [readsDonors, readAgain]);
  /** Reads a saved report afresh and opens it, as a link to it does. */
  const choose = (name: string, step = true): void => setMode({ kind: 'saved', name }, step);
  const asLinked = mode.kind === 'saved' ? mode.linked : undefined;
  const open = useCallback(
    (newest: SavedReport) => {
      const found = asLinked ? inLinkedState(newest, asLinked) : newest;
      const its = readSavedChoices(found);
      const { name, updatedAt } = found;
      // The link gives its place to the report, or to the list. Otherwise Back would lead from the report to the link, and on to the report.
      if (its) return setMode({ kind: 'reports', choices: its, unread: findUnreadSaved(found.query), saved: { name, updatedAt } }, false);
      setMode(NO_REPORT, false);
      onShowGraphql({ query: found.query, variables: JSON.stringify(found.variables, null, 2) });
    },
    [setMode, onShowGraphql, asLinked],
  );
  /** The times of what was saved here, which are no news in an earlier step of the history. */
  const [own, setOwn] = useState<ReadonlyMap<string, string>>(new Map());
  const ownTime = saved && own.get(saved.name);
  const replaces = saved?.updatedAt !== undefined && ownTime !== undefined && ownTime > saved.updatedAt ? ownTime : saved?.updatedAt;
  const takeNewer = (next: OpenedReport): void => {
    if (mode.kind === 'reports') setMode((now) => (now.kind === 'reports' ? openAs(now, mode, next) : now), false);
  };
  const keep = (next: OpenedReport): void => {
    const { name, updatedAt } = next;
    if (updatedAt !== undefined) setOwn((before) => new Map(before).set(name, updatedAt));
    takeNewer(next);
  };
  const placeName =
    mode.kind === 'home'
      ? 'Home'
      : mode.kind === 'saved'
        ? 'All saved reports'
        : report === undefined
          ? 'All reports'
          : definitionOf(report).title;
  const menuPlace = `${place} ${saved?.name ?? ''}`;
  useEffect(() => setIsMenuOpen(false), [menuPlace]);
  const closeMenu = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape' || !isMenuOpen) return;
    setIsMenuOpen(false);
    menuButton.current?.focus();
  };
  const listed = list.reports.filter((each, place) => place < MAX_LISTED || each === opened);
  const isCurrent = (each: SavedReport): boolean => each === opened || (mode.kind === 'saved' && mode.name === each.name);
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
                <ClosesDialog
                  {...{ provision, timeZone }}
                  now={findToday({ ...viewer, timeZone })}
                  isOpen={isClosing}
                  onOpenChange={setIsClosing}
                />
              </li>
            )}
          </ul>
          {readsDonors && (
            <>
              <h2>Saved</h2>
              {/* The home and the list of all tell of it themselves. */}
              {list.problem !== '' && mode.kind === 'reports' && <TryAgain message={list.problem} onTryAgain={readAgain} />}
              <ul>
                {listed.map((each) => (
                  <li key={each.name}>
                    <button
                      type="button"
                      aria-current={isCurrent(each) ? 'page' : undefined}
                      // The report that is open as it was saved opens in its own place.
                      onClick={() => choose(each.name, each !== opened || (choices && isChangedFrom(each, choices)))}
                    >
                      {each.title}
                    </button>
                  </li>
                ))}
                <li>
                  <button
                    type="button"
                    aria-current={mode.kind === 'saved' && mode.name === '' ? 'page' : undefined}
                    onClick={() => choose('')}
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
        <HomePage {...{ provision, viewer, list, onSessionChange }} onClose={() => setIsClosing(true)} />
      ) : mode.kind === 'saved' ? (
        <SavedView {...{ provision, list, timeZone }} name={mode.name} onOpen={open} onChoose={choose} />
      ) : choices && offered.includes(choices.report) ? (
        <FaultBoundary key={choices.report} part="This report" resetKeys={[choices]}>
          <ReportView
            {...{ provision, viewer, client, keptTie, choices, linked, replaces, lost, list, onSessionChange, onShowGraphql }}
            onChange={change}
            saved={opened}
            onSaved={keep}
            onConflict={takeNewer}
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
