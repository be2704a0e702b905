import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useMemo } from 'react';

/** A query as it stands in GraphiQL's editors; the variables are JSON. */
export interface EditorTexts {
  readonly query: string;
  readonly variables: string;
}

interface Editors {
  /** False until both are there. */
  readonly isReady: boolean;
  readonly read: () => EditorTexts;
  /** In a new tab: what stands in the others stays. */
  readonly openTab: (texts: EditorTexts) => void;
}

/** GraphiQL's editors of query and variables. */
export function useEditors(): Editors {
  const actions = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  return useMemo(
    () => ({
      isReady: queryEditor !== undefined && variableEditor !== undefined,
      read: () => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' }),
      openTab: ({ query, variables }) => {
        actions.addTab();
        for (const [editor, text] of [
          [queryEditor, query],
          [variableEditor, variables],
        ] as const) {
          editor?.setValue(text);
          // It would stay where the tab before was.
          editor?.setPosition({ lineNumber: 1, column: 1 });
          editor?.setScrollPosition({ scrollLeft: 0, scrollTop: 0 });
        }
      },
    }),
    [actions, queryEditor, variableEditor],
  );
}

/** Another value for every run and for every tab that is shown: a message about the one before is out of date. */
export function useRunKey(): string {
  return useGraphiQL(({ tabs, activeTabIndex, queryId }) => `${tabs[activeTabIndex]?.id ?? ''} ${String(queryId)}`);
}
