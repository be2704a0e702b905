import { useCallback } from 'react';
import { FaultBoundary } from '../look/fault-boundary';
import type { PageMode } from '../page-mode';
import { mayReadDonors, type Viewer } from '../session/gateway-client';
import { useTableClient } from '../tables/table-client';
import { defaultChoices, type ReportChoices } from './report-choices';
import { definitionOf, reportDefinitions, type ReportId } from './report-definitions';
import { ReportView } from './report-view';

interface ReportsPageProps {
  readonly provision: string;
  readonly viewer: Viewer;
  readonly mode: PageMode;
  readonly setMode: (mode: PageMode) => void;
  readonly onSessionChange: () => void;
  readonly onShowGraphql: (texts: { readonly query: string; readonly variables: string }) => void;
}

/** Reports mode: the list of reports, and the one that was chosen. */
export default function ReportsPage({ provision, viewer, mode, setMode, onSessionChange, onShowGraphql }: ReportsPageProps) {
  const client = useTableClient(viewer.username);
  const choices = mode.kind === 'reports' ? mode.choices : undefined;
  const change = useCallback((next: ReportChoices) => setMode({ kind: 'reports', choices: next }), [setMode]);
  const readsDonors = mayReadDonors(viewer);
  const offered = (Object.keys(reportDefinitions) as ReportId[]).filter((id) => readsDonors || !definitionOf(id).isPersonal);
  return (
    <div className="reports-page">
      <nav className="reports-nav" aria-label="Reports">
        <h2>Reports</h2>
        <ul>
          {offered.map((id) => (
            <li key={id}>
              <button type="button" aria-current={choices?.report === id ? 'page' : undefined} onClick={() => change(defaultChoices(id))}>
                {definitionOf(id).title}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {choices && offered.includes(choices.report) ? (
        <FaultBoundary key={choices.report} part="This report" resetKeys={[choices]}>
          <ReportView {...{ provision, viewer, client, choices, onSessionChange, onShowGraphql }} onChange={change} />
        </FaultBoundary>
      ) : (
        <main className="report">
          <h2>What do you want to know?</h2>
          <p>
            Choose a report, then a period. Every figure counts each gift once and says whether pending deposits are in it, and every table
            goes into a spreadsheet as it stands.
          </p>
          {choices && (
            <p className="problem">You may not read this report, because it shows donors. Ask your administrator for the right.</p>
          )}
          <ul className="report-list">
            {offered.map((id) => (
              <li key={id}>
                <button type="button" onClick={() => change(defaultChoices(id))}>
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
