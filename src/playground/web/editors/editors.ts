import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useMemo } from 'react';
import type { EditorTexts } from '../files/file-url';

interface Editors {
  /** False until GraphiQL has loaded both editors. */
  readonly isReady: boolean;
  readonly read: () => EditorTexts;
  /** Opens a new tab with these texts. The other tabs keep theirs. */
  readonly openTab: (texts: EditorTexts) => void;
}

/** Reads GraphiQL's query and variables editors, and opens tabs in them. */
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
          // Otherwise cursor and scroll position would stay as they were in the tab before.
          editor?.setPosition({ lineNumber: 1, column: 1 });
          editor?.setScrollPosition({ scrollLeft: 0, scrollTop: 0 });
        }
      },
    }),
    [actions, queryEditor, variableEditor],
  );
}

/** Returns a key that changes with every run and every change of tab. A message that belongs to an earlier key is out of date. */
export function useRunKey(): string {
  return useGraphiQL(({ tabs, activeTabIndex, queryId }) => `${tabs[activeTabIndex]?.id ?? ''} ${String(queryId)}`);
}
