import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { GraphiQL, type GraphiQLProps } from 'graphiql';
import type { ExecutionResult } from 'graphql';
import { useCallback, useEffect, useRef, useState, type ChangeEvent, type KeyboardEvent } from 'react';
import { createPortal } from 'react-dom';
import { toPreview } from './answer-preview';
import { DownloadBar } from './download-bar';
import { EditorAccess } from './editor-access';
import { editorStorage, hasStoredTabs } from './editor-storage';
import { useEditors } from './editors';
import { defaultExample, examples } from './examples';
import { FaultBoundary } from './fault-boundary';
import { postGraphQL, tellsSessionLoss, type GraphQLRequest } from './gateway-client';
import { selectOperation, type ReportQuery } from './report-file';
import { ShareButton } from './share-button';
import { toStoppable } from './stoppable-answer';

interface QueryExplorerProps {
  readonly provision: string;
  readonly isLoggedIn: boolean;
  /** Called after an answer that tells, or a mutation that may mean, another state of the session. */
  readonly onSessionChange: () => void;
  /** Told of the newest answer of a tab, and, when a request begins, that it has none any more. */
  readonly onAnswer: (tab: string, answer: ShownAnswer | undefined) => void;
  /** Told of the tab that is shown. */
  readonly onTab: (tab: string) => void;
  /** The place in the bar for the examples, which need GraphiQL's editors. */
  readonly examplesSlot: Element | null;
  /** The place under the editors for taking rows home. */
  readonly downloadSlot: Element | null;
}

/** What was asked, and the data that it was answered with. */
export interface ShownAnswer {
  readonly query: ReportQuery;
  readonly data: unknown;
}

/** GraphiQL on the gateway. It fetches the schema whenever somebody logs in, and again under every other Provision. */
export function QueryExplorer({ provision, isLoggedIn, onSessionChange, onAnswer, onTab, examplesSlot, downloadSlot }: QueryExplorerProps) {
  const tab = useRef('');
  const showTab = useCallback(
    (id: string) => {
      tab.current = id;
      onTab(id);
    },
    [onTab],
  );
  const fetcher = useCallback<GraphiQLProps['fetcher']>(
    (request, options) => {
      const ask = async (signal?: AbortSignal): Promise<ExecutionResult> => {
        try {
          const answer = await postGraphQL(provision, withKnownOperation(request), { headers: options?.headers, signal });
          if (tellsSessionLoss(answer)) onSessionChange();
          return answer;
        } finally {
          // Also one that was stopped: the gateway may have done it.
          if (/\bmutation\b/.test(request.query)) onSessionChange();
        }
      };
      if (request.operationName === 'IntrospectionQuery') return ask();
      const asked = tab.current;
      onAnswer(asked, undefined);
      return toStoppable(async (signal) => {
        const answer = await ask(signal);
        if (!signal.aborted) onAnswer(asked, { query: toReportQuery(request), data: answer.data });
        return toPreview(answer);
      });
    },
    [provision, onSessionChange, onAnswer],
  );
  // GraphiQL ignores the variables of its default tab, and these would override those of stored tabs.
  const [initialVariables] = useState(() => (hasStoredTabs() ? undefined : defaultExample.variables(new Date())));

  return (
    <GraphiQL
      className={isLoggedIn ? undefined : 'logged-out'}
      fetcher={fetcher}
      schema={isLoggedIn ? undefined : null}
      defaultQuery={defaultExample.query}
      initialVariables={initialVariables}
      defaultEditorToolsVisibility="variables"
      shouldPersistHeaders={false}
      storage={editorStorage}
    >
      <GraphiQL.Logo>{isLoggedIn ? <></> : <span className="schema-hint">Log in to explore the schema</span>}</GraphiQL.Logo>
      <EditorAccess />
      <ActiveTab onChange={showTab} />
      {examplesSlot && createPortal(<ExamplePicker />, examplesSlot)}
      {isLoggedIn &&
        downloadSlot &&
        createPortal(
          <FaultBoundary part="The downloads">
            <DownloadBar provision={provision} onFailure={onSessionChange} />
            <ShareButton />
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

/** GraphiQL learns the operations of a new text a moment late: until then it would ask for one of the old text. */
function withKnownOperation({ operationName, ...request }: GraphQLRequest): GraphQLRequest {
  const isKnown = operationName && new RegExp(`\\b(query|mutation)\\s+${operationName}\\b`).test(request.query);
  return isKnown ? { ...request, operationName } : request;
}

/** Tells which tab of GraphiQL is shown, and stops what one that is left has asked: GraphiQL would show the answer in the next. */
function ActiveTab({ onChange }: { readonly onChange: (tab: string) => void }) {
  const tab = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id ?? '');
  const actions = useGraphiQLActions();
  useEffect(() => {
    onChange(tab);
    return () => actions.stop();
  }, [tab, onChange, actions]);
  return null;
}

function ExamplePicker() {
  const editors = useEditors();
  const open = (event: ChangeEvent<HTMLSelectElement>): void => {
    const example = examples[Number(event.target.value)];
    if (!example) return;
    editors.openTab({ query: example.query, variables: example.variables(new Date()) });
  };
  // Some systems choose at every arrow key on a closed list; each would open a tab.
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
