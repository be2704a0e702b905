import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useState } from 'react';
import { clearShareLink, readShareLink, toShareLink } from './share-link';

/** Copies a link to the query that is shown, and opens the query of a link in a new tab of the editors. */
export function ShareButton() {
  const actions = useGraphiQLActions();
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isProblem: boolean }>();

  useEffect(() => {
    if (!queryEditor || !variableEditor) return;
    const open = (): void => {
      try {
        const shared = readShareLink(location.hash);
        if (!shared) return;
        actions.addTab();
        queryEditor.setValue(shared.query);
        variableEditor.setValue(shared.variables);
      } catch (error) {
        setOutcome({ text: (error as Error).message, isProblem: true });
      }
      clearShareLink();
    };
    open();
    window.addEventListener('hashchange', open);
    return () => window.removeEventListener('hashchange', open);
  }, [actions, queryEditor, variableEditor]);

  const copy = async (): Promise<void> => {
    try {
      const link = toShareLink({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' });
      await navigator.clipboard.writeText(link);
      setOutcome({ text: 'The link is copied. It holds the query and its variables.', isProblem: false });
    } catch (error) {
      setOutcome({ text: (error as Error).message, isProblem: true });
    }
  };
  return (
    <section className="download" aria-label="Link">
      <button type="button" onClick={() => void copy()} disabled={!queryEditor}>
        Copy link
      </button>
      <span role={outcome?.isProblem ? 'alert' : 'status'}>{outcome?.text}</span>
    </section>
  );
}
