import { useEffect, useState } from 'react';
import { copyText } from '../look/clipboard';
import { useEditors, useRunKey } from './editors';
import { clearShareLink, readShareLink, toShareLink } from './share-link';

/** Copies a link to the query in the editor. Opens the query of a followed link in a new tab. */
export function ShareButton() {
  const editors = useEditors();
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isProblem: boolean }>();
  const runKey = useRunKey();
  useEffect(() => setOutcome(undefined), [runKey]);

  useEffect(() => {
    if (!editors.isReady) return;
    const open = (): void => {
      try {
        const shared = readShareLink(location.hash);
        if (!shared) return;
        editors.openTab(shared);
      } catch (error) {
        setOutcome({ text: (error as Error).message, isProblem: true });
      }
      clearShareLink();
    };
    open();
    window.addEventListener('hashchange', open);
    return () => window.removeEventListener('hashchange', open);
  }, [editors]);

  const copy = async (): Promise<void> => {
    try {
      await copyText(toShareLink(editors.read()));
      setOutcome({ text: 'The link is copied. It holds the query and its variables.', isProblem: false });
    } catch (error) {
      setOutcome({ text: (error as Error).message, isProblem: true });
    }
  };
  return (
    <section className="share" aria-label="Link">
      <button type="button" onClick={() => void copy()} disabled={!editors.isReady}>
        Copy link
      </button>
      <span role={outcome?.isProblem ? 'alert' : 'status'}>{outcome?.text}</span>
    </section>
  );
}
