import { useEffect, useState } from 'react';
import { copyText } from '../look/clipboard';
import { useEditors, useRunKey } from './editors';
import { toViewParameters } from '../tables/view-link';
import { clearShareLink, readShareLink, toShareLink, type LinkedTable } from './share-link';
import { describeShownLoss, shownArrangement, type ShownTable } from './shown-table';

interface ShareButtonProps {
  /** The result table, where it is shown. */
  readonly shownTable: { readonly current: ShownTable | undefined };
  /** Called with the rows that a followed link shows of the answer. */
  readonly onLinked: (table: LinkedTable | undefined) => void;
}

/** Copies a link to the query in the editor. Opens the query of a followed link in a new tab. */
export function ShareButton({ shownTable, onLinked }: ShareButtonProps) {
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
        onLinked(shared.table);
      } catch (error) {
        setOutcome({ text: (error as Error).message, isProblem: true });
      }
      clearShareLink();
    };
    open();
    window.addEventListener('hashchange', open);
    return () => window.removeEventListener('hashchange', open);
  }, [editors, onLinked]);

  const copy = async (): Promise<void> => {
    try {
      const { current: shown } = shownTable;
      const table = shown && { list: shown.name, parameters: toViewParameters(shownArrangement(shown)) };
      await copyText(toShareLink({ ...editors.read(), table }));
      const parts =
        shown && describeShownLoss(shown) !== undefined
          ? 'the query, its variables, and the search and the filters of the table'
          : 'the query and its variables';
      setOutcome({ text: `The link is copied. It holds ${parts}.`, isProblem: false });
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
