import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL, type GraphiQLProps } from 'graphiql';
import type { ExecutionResult } from 'graphql';
import { useCallback, useEffect, useRef, useState, type ChangeEvent, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';
import { DownloadBar } from './download-bar';
import { EditorAccess } from './editor-access';
import { editorStorage, hasStoredTabs } from '../session/editor-storage';
import { useEditors } from './editors';
import { defaultExample, examples } from './examples';
import { FaultBoundary } from '../look/fault-boundary';
import { selectOperation } from './edited-query';
import type { EditorTexts, ReportQuery } from '../files/file-url';
import { postGraphQL, type GraphQLRequest } from '../session/gateway-client';
import type { AnsweredTable } from '../rows/answer-tables';
import type { TableClient } from '../rows/table-client';
import { ShareButton } from './share-button';
import type { LinkedTable } from './share-link';
import type { ShownTable } from './shown-table';
import { toStoppable } from './stoppable-answer';

interface QueryExplorerProps {
  readonly provision: string;
  /** The client whose worker reads the answers and keeps their tables. */
  readonly client: TableClient;
  /** Called after every mutation, which may be a login or a logout, and when a download fails. */
  readonly onSessionChange: () => void;
  /** Called with a tab's newest answer, and with undefined when the tab sends its next request. */
  readonly onAnswer: (tab: string, answer: ShownAnswer | undefined) => void;
  /** Called with the id of the tab that is shown. */
  readonly onTab: (tab: string) => void;
  /** The result table, where it is shown. */
  readonly shownTable: { readonly current: ShownTable | undefined };
  /** Called with the rows that a followed link shows of the answer. */
  readonly onLinked: (table: LinkedTable | undefined) => void;
  /** The texts to open in a new tab, and what to call once they are open. */
  readonly textsToOpen: EditorTexts | undefined;
  readonly onOpened: () => void;
  /** The element of the top bar that the examples are rendered into. */
  readonly toolsSlot: Element | null;
  /** The element of the footer that downloads and links are rendered into. */
  readonly downloadSlot: Element | null;
}

/** A query, the data of its answer with long lists cut, and the tables that it holds. */
export interface ShownAnswer {
  readonly query: ReportQuery;
  readonly data: unknown;
  readonly tables: readonly AnsweredTable[];
}

/** Runs GraphiQL against the gateway. GraphiQL fetches the schema at every login and for every new Provision. */
export default function QueryExplorer({
  provision,
  client,
  onSessionChange,
  onAnswer,
  onTab,
  shownTable,
  onLinked,
  textsToOpen,
  onOpened,
  toolsSlot,
  downloadSlot,
}: QueryExplorerProps) {
  const tab = useRef('');
  /** The tables of each tab's newest answer. */
  const kept = useRef(new Map<string, readonly AnsweredTable[]>());
  const showTab = useCallback(
    (id: string) => {
      tab.current = id;
      onTab(id);
    },
    [onTab],
  );
  const dropAll = useCallback(
    (tables: readonly AnsweredTable[]) => {
      for (const { id } of tables) void client.drop(id);
    },
    [client],
  );
  const forget = useCallback(
    (id: string) => {
      dropAll(kept.current.get(id) ?? []);
      kept.current.delete(id);
    },
    [dropAll],
  );
  const fetcher = useCallback<GraphiQLProps['fetcher']>(
    (request, options) => {
      const sent = { request: withKnownOperation(request), headers: options?.headers };
      const watched = async (ask: () => Promise<ExecutionResult>): Promise<ExecutionResult> => {
        try {
          return await ask();
        } finally {
          // A stopped mutation counts too: the gateway may have carried it out.
          if (/\bmutation\b/.test(request.query)) onSessionChange();
        }
      };
      if (request.operationName === 'IntrospectionQuery') return watched(() => postGraphQL(provision, sent.request, sent));
      const asked = tab.current;
      onAnswer(asked, undefined);
      forget(asked);
      return toStoppable((signal) =>
        watched(async () => {
          const { preview, tables } = await client.answer({ provision, ...sent }, signal);
          if (signal.aborted) dropAll(tables);
          else {
            kept.current.set(asked, tables);
            onAnswer(asked, { query: toReportQuery(request), data: preview.data, tables });
          }
          return preview;
        }),
      );
    },
    [provision, client, onSessionChange, onAnswer, dropAll, forget],
  );
  const closeTabs = useCallback(
    (open: readonly string[]) => {
      for (const id of [...kept.current.keys()].filter((each) => !open.includes(each))) {
        onAnswer(id, undefined);
        forget(id);
      }
    },
    [onAnswer, forget],
  );
  // GraphiQL takes no variables for its default tab. These would override those of stored tabs, so they are only for a first visit.
  const [initialVariables] = useState(() => (hasStoredTabs() ? undefined : defaultExample.variables(new Date())));

  return (
    <GraphiQL
      fetcher={fetcher}
      defaultQuery={defaultExample.query}
      initialVariables={initialVariables}
      defaultEditorToolsVisibility="variables"
      shouldPersistHeaders={false}
      storage={editorStorage}
    >
      <GraphiQL.Logo>
        <></>
      </GraphiQL.Logo>
      <QueryToOpen textsToOpen={textsToOpen} onOpened={onOpened} />
      <EditorAccess />
      <ActiveTab onChange={showTab} />
      <OpenTabs onChange={closeTabs} />
      {toolsSlot && createPortal(<ExamplePicker />, toolsSlot)}
      {downloadSlot &&
        createPortal(
          <FaultBoundary part="The downloads">
            <DownloadBar {...{ provision, shownTable }} onFailure={onSessionChange} />
            <ShareButton {...{ shownTable, onLinked }} />
          </FaultBoundary>,
          downloadSlot,
        )}
    </GraphiQL>
  );
}

const toReportQuery = ({ query, operationName, variables }: GraphQLRequest): ReportQuery => ({
  query: selectOperation(query, operationName),
  variables: variables ?? {},
});

/** Removes an operation name that the text does not have. For a moment after an edit, GraphiQL still sends the old text's name. */
function withKnownOperation({ operationName, ...request }: GraphQLRequest): GraphQLRequest {
  const isKnown = operationName && new RegExp(`\\b(query|mutation)\\s+${operationName}\\b`).test(request.query);
  return isKnown ? { ...request, operationName } : request;
}

/** Reports the tab that is shown. Leaving a tab stops its query, because GraphiQL would show the answer in the next tab. */
function ActiveTab({ onChange }: { readonly onChange: (tab: string) => void }) {
  const tab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const actions = useGraphiQLActions();
  useEffect(() => {
    onChange(tab);
    return () => actions.stop();
  }, [tab, onChange, actions]);
  return null;
}

/** Reports the tabs that are open, whenever one is opened or closed. */
function OpenTabs({ onChange }: { readonly onChange: (open: readonly string[]) => void }) {
  const ids = useGraphiQL((state) => state.tabs.map(({ id }) => id).join(' '));
  useEffect(() => onChange(ids.split(' ')), [ids, onChange]);
  return null;
}

/** Opens a query that Reports mode has handed over. */
function QueryToOpen({ textsToOpen, onOpened }: Pick<QueryExplorerProps, 'textsToOpen' | 'onOpened'>) {
  const editors = useEditors();
  useEffect(() => {
    if (!textsToOpen || !editors.isReady) return;
    editors.openTab(textsToOpen);
    onOpened();
  }, [textsToOpen, editors, onOpened]);
  return null;
}

function ExamplePicker() {
  const editors = useEditors();
  const open = (event: ChangeEvent<HTMLSelectElement>): void => {
    const example = examples[Number(event.target.value)];
    if (!example) return;
    editors.openTab({ query: example.query, variables: example.variables(new Date()) });
  };
  // On some systems every arrow key changes a closed list, and would open one more tab. This opens the list instead.
  const showList = (event: KeyboardEvent<HTMLSelectElement>): void => {
    if (!event.key.startsWith('Arrow') || !('showPicker' in event.currentTarget)) return;
    event.preventDefault();
    event.currentTarget.showPicker();
  };
  return (
    <>
      <label htmlFor="examples">Examples</label>
      <select id="examples" value="" onChange={open} onKeyDown={showList} disabled={!editors.isReady}>
        <option value="" hidden>
          Open in a new tab…
        </option>
        {examples.map(({ title }, index) => (
          <option key={title} value={index}>
            {title}
          </option>
        ))}
      </select>
    </>
  );
}
