import { useCallback, useRef, useState } from 'react';
import { FaultBoundary } from '../look/fault-boundary';
import { useTableClient } from '../rows/table-client';
import type { EditorTexts } from '../files/file-url';
import QueryExplorer, { type ShownAnswer } from './query-explorer';
import { ResultView, resultViewKinds, type ResultViewKind } from './result-view';
import type { LinkedTable } from './share-link';
import type { ShownTable } from './shown-table';
import { TotalsBar } from './totals-bar';

const viewTitles: Readonly<Record<ResultViewKind, string>> = { table: 'Table', chart: 'Chart' };

interface GraphqlPageProps {
  readonly provision: string;
  /** A key of the user whose results are shown. */
  readonly owner: string;
  /** The texts to open in a new tab, and what to call once they are open. */
  readonly textsToOpen: EditorTexts | undefined;
  readonly onOpened: () => void;
  readonly onSessionChange: () => void;
  /** The element of the top bar that the examples are rendered into. */
  readonly toolsSlot: Element | null;
}

/** GraphQL mode: GraphiQL's editors, and below them the answer as a table or a chart, its totals and its file. */
export default function GraphqlPage({ provision, owner, textsToOpen, toolsSlot, onOpened, onSessionChange }: GraphqlPageProps) {
  const client = useTableClient(owner);
  const [downloadSlot, setDownloadSlot] = useState<Element | null>(null);
  /** The newest answer of each of GraphiQL's tabs. */
  const [answers, setAnswers] = useState<ReadonlyMap<string, ShownAnswer | undefined>>(new Map());
  const [tab, setTab] = useState('');
  const [view, setView] = useState<ResultViewKind>();
  const shownTable = useRef<ShownTable>(undefined);
  const [linked, setLinked] = useState<LinkedTable>();
  const followLink = useCallback((table: LinkedTable | undefined) => {
    setLinked(table);
    if (table) setView('table');
  }, []);
  const show = (kind: ResultViewKind | undefined): void => {
    setView(kind);
    // The table is opened anew with all rows.
    if (kind === undefined) setLinked(undefined);
  };
  const onAnswer = useCallback(
    (of: string, answer: ShownAnswer | undefined) => setAnswers((before) => new Map(before).set(of, answer)),
    [],
  );
  const shown = answers.get(tab);
  const closeView = (
    <button type="button" onClick={() => show(undefined)}>
      Close
    </button>
  );
  return (
    <>
      <main className="explorer">
        <p className="narrow-note">
          GraphQL mode needs a wider screen. Here the answer is below its query, and the documentation is left out.
        </p>
        <QueryExplorer
          key={owner}
          {...{ provision, client, onSessionChange, onAnswer, textsToOpen, onOpened, toolsSlot, downloadSlot, shownTable }}
          onLinked={followLink}
          onTab={setTab}
        />
      </main>
      {view && (
        <FaultBoundary part="These results" resetKeys={[view, shown]} wayBack={closeView}>
          <ResultView {...{ client, linked, shownTable }} kind={view} answer={shown} />
        </FaultBoundary>
      )}
      <footer>
        <FaultBoundary part="The totals" resetKeys={[shown]}>
          {/* A query that failed has no totals, and may have a null for each of its fields. */}
          <TotalsBar
            provision={provision}
            shown={shown && Object.values(shown.data ?? {}).some((value) => value !== null) ? shown.query : undefined}
          />
        </FaultBoundary>
        <div className="footer-slot" ref={setDownloadSlot} />
        {resultViewKinds.map((kind) => (
          <button key={kind} type="button" aria-pressed={view === kind} onClick={() => show(view === kind ? undefined : kind)}>
            {viewTitles[kind]}
          </button>
        ))}
      </footer>
    </>
  );
}
