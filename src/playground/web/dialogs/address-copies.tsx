import { useState } from 'react';
import { Button } from 'react-aria-components';
import type { PeriodName } from '../../../values/periods';
import { copyText } from '../look/clipboard';
import { presets } from '../values/periods';
import { copyAdvice, toCopyText, type CopyForm, type FileAddress } from '../files/address-text';
import type { ColumnChoice } from './download-run';
import { lineFileColumns } from '../files/file-columns';
import { fetchFileAddress, type ReportQuery } from '../files/file-url';
import { takeFile } from '../files/download';
import { feedAdvice, toConnection, type FeedEnding } from '../files/feed-connection';

interface AddressCopiesProps {
  readonly request: ReportQuery;
  /** Sentences about what the file does not have. */
  readonly notes?: readonly string[] | undefined;
  /** The period that the address has in place of dates. */
  readonly period?: PeriodName | undefined;
  readonly columns: ColumnChoice;
  readonly provision: string;
}

/** Copies the address of the gateway's CSV file of a report, for programs that fetch it again and again. */
export function AddressCopies({ request, notes = [], period, columns, provision }: AddressCopiesProps) {
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isProblem: boolean }>();
  /** Does something with the address of the file, and shows the text that it returns or its fault. */
  const give = async (use: (address: FileAddress) => Promise<string> | string): Promise<void> => {
    try {
      const address = withPeriod(await fetchFileAddress(provision, request, 'csv'), period);
      setOutcome({ text: await use(withColumns(address, columns)), isProblem: false });
    } catch (error) {
      setOutcome({ text: (error as Error).message, isProblem: true });
    }
  };
  const copy = (form: CopyForm): Promise<void> =>
    give(async (address) => {
      await copyText(toCopyText(form, address));
      return copyAdvice[form];
    });
  const open = (ending: FeedEnding): Promise<void> =>
    give(({ url }) => {
      takeFile(toConnection(url, ending));
      return feedAdvice(ending);
    });
  const sentences = [...(period ? [`Each file has “${presets[period].title}” as of its own day.`] : []), ...notes];
  return (
    <section className="dialog-part" aria-label="For other programs">
      <p>Other programs can fetch the CSV file again whenever they like, with the gateway’s names of the columns. {sentences.join(' ')}</p>
      <div className="dialog-buttons">
        <Button onPress={() => void copy('curl')}>Copy curl command</Button>
        <Button onPress={() => void copy('powerQuery')}>Copy for Power Query</Button>
        <Button onPress={() => void open('odc')}>Open in Excel</Button>
        <Button onPress={() => void open('pbids')}>Open in Power BI</Button>
      </div>
      <p role={outcome?.isProblem ? 'alert' : 'status'}>{outcome?.text}</p>
    </section>
  );
}

function withPeriod({ url, columns }: FileAddress, period: PeriodName | undefined): FileAddress {
  if (!period) return { url, columns };
  const others = [...url.searchParams].filter(([name]) => name !== 'start_date' && name !== 'end_date');
  const moving = new URL(url);
  moving.search = new URLSearchParams([['period', period], ...others]).toString();
  return { url: moving, columns };
}

function withColumns({ url, columns }: FileAddress, choice: ColumnChoice): FileAddress {
  if (choice === 'screen') return { url, columns };
  const chosen = new URL(url);
  chosen.searchParams.set('columns', choice);
  return { url: chosen, columns: lineFileColumns[choice] };
}
