import { useState } from 'react';
import { Button } from 'react-aria-components';
import { copyText } from '../look/clipboard';
import { copyAdvice, toCopyText, type CopyForm, type FileAddress } from './address-text';
import type { ColumnChoice } from './download-run';
import { lineFileColumns } from './file-columns';
import { fetchFileAddress, type ReportQuery } from './file-url';

interface AddressCopiesProps {
  readonly request: ReportQuery;
  /** Sentences about what the file does not have. */
  readonly notes?: readonly string[] | undefined;
  readonly columns: ColumnChoice;
  readonly provision: string;
}

/** Copies the address of the gateway's CSV file of a report, for programs that fetch it again and again. */
export function AddressCopies({ request, notes = [], columns, provision }: AddressCopiesProps) {
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isProblem: boolean }>();
  const copy = async (form: CopyForm): Promise<void> => {
    try {
      await copyText(toCopyText(form, withColumns(await fetchFileAddress(provision, request, 'csv'), columns)));
      setOutcome({ text: copyAdvice[form], isProblem: false });
    } catch (error) {
      setOutcome({ text: (error as Error).message, isProblem: true });
    }
  };
  return (
    <section className="dialog-part" aria-label="For other programs">
      <p>Other programs can fetch the CSV file again whenever they like, with the gateway’s names of the columns. {notes.join(' ')}</p>
      <div className="dialog-buttons">
        <Button onPress={() => void copy('curl')}>Copy curl command</Button>
        <Button onPress={() => void copy('powerQuery')}>Copy for Power Query</Button>
      </div>
      <p role={outcome?.isProblem ? 'alert' : 'status'}>{outcome?.text}</p>
    </section>
  );
}

function withColumns({ url, columns }: FileAddress, choice: ColumnChoice): FileAddress {
  if (choice === 'screen') return { url, columns };
  const chosen = new URL(url);
  chosen.searchParams.set('columns', choice);
  return { url: chosen, columns: lineFileColumns[choice] };
}
