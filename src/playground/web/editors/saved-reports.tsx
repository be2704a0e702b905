import { useId, useRef, useState, type SubmitEvent } from 'react';
import { copyText } from '../look/clipboard';
import { copyAdvice, toCopyText, type ReportQuery } from '../files/file-url';
import { askGateway } from '../session/gateway-client';
import deleteReportMutation from '../queries/delete-report.graphql?raw';
import saveReportMutation from '../queries/save-report.graphql?raw';
import savedReportsQuery from '../queries/saved-reports.graphql?raw';

interface SavedReport {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly path: string;
  readonly updatedAt: string;
  readonly updatedBy: string | null;
}

interface SaveAnswer {
  readonly saveReport: { readonly replaced: boolean };
}

interface SavedReportsProps {
  readonly provision: string;
  /** Reads the query in the editors. Throws an Error whose message the page shows. */
  readonly current: () => ReportQuery;
  readonly onOpen: (query: ReportQuery) => void;
}

/** Lists the organization's saved reports. Each is a query with a name and a lasting address, for spreadsheets and BI tools. */
export function SavedReports({ provision, current, onOpen }: SavedReportsProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reports, setReports] = useState<readonly SavedReport[]>();
  const [message, setMessage] = useState<{ readonly text: string; readonly isFault: boolean }>();
  const nameField = useRef<HTMLInputElement>(null);
  const titleField = useRef<HTMLInputElement>(null);
  const nameId = useId();
  const titleId = useId();

  const run = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      const text = await work();
      setMessage(typeof text === 'string' ? { text, isFault: false } : undefined);
    } catch (error) {
      setMessage({ text: (error as Error).message, isFault: true });
    }
  };
  const load = async (): Promise<void> => {
    const { savedReports } = await askGateway<{ savedReports: SavedReport[] }>(provision, { query: savedReportsQuery });
    setReports(savedReports);
  };
  const open = (): void => {
    setReports(undefined);
    setMessage(undefined);
    dialog.current?.showModal();
    void run(load);
  };
  const save = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = nameField.current?.value ?? '';
    const earlier = reports?.find((report) => report.name === name);
    if (earlier && !confirm(`Replace ${name}, saved by ${describeSaving(earlier)}?`)) return;
    void run(async () => {
      const title = titleField.current?.value.trim() || earlier?.title;
      const input = { name, title, ...current(), replaces: earlier?.updatedAt };
      const { saveReport } = await askGateway<SaveAnswer>(provision, { query: saveReportMutation, variables: { input } });
      form.reset();
      await load();
      return saveReport.replaced ? `Replaced ${name}.` : `Saved as ${name}.`;
    });
  };
  const remove = ({ id, name }: SavedReport): void => {
    if (!confirm(`Delete ${name}? Programs that read its address will find nothing.`)) return;
    void run(async () => {
      await askGateway(provision, { query: deleteReportMutation, variables: { id } });
      await load();
      // The focus was on the deleted report's button.
      nameField.current?.focus();
      return `Deleted ${name}.`;
    });
  };
  const copy = ({ name, path }: SavedReport): void => {
    void run(async () => {
      await copyText(toCopyText('powerQuery', new URL(path, location.origin)));
      return `${name}: ${copyAdvice.powerQuery}`;
    });
  };
  const show = ({ query, variables }: SavedReport): void => {
    dialog.current?.close();
    onOpen({ query, variables });
  };

  return (
    <>
      <button type="button" onClick={open}>
        Saved reports
      </button>
      <dialog ref={dialog} className="reports" aria-label="Saved reports">
        <h2>Saved reports</h2>
        <form className="reports-save" onSubmit={save}>
          <label htmlFor={nameId}>Save the query in the editor as</label>
          <input
            ref={nameField}
            id={nameId}
            name="name"
            required
            pattern="[a-z0-9]+(-[a-z0-9]+)*"
            maxLength={80}
            placeholder="monthly-giving"
            autoComplete="off"
          />
          <label htmlFor={titleId}>with the title</label>
          <input ref={titleField} id={titleId} name="title" maxLength={200} placeholder="Monthly giving" autoComplete="off" />
          <button type="submit">Save</button>
        </form>
        <p role={message?.isFault ? 'alert' : 'status'}>{message?.text}</p>
        {reports?.length === 0 && (
          <p>
            None yet. A saved report has an address that stays the same. Spreadsheets and BI tools read its rows there with an API
            provision.
          </p>
        )}
        <ul>
          {reports?.map((report) => (
            <li key={report.name}>
              <div>
                {report.title !== report.name && <strong>{report.title}</strong>}
                <code>{report.path}</code>
                <span>{describeSaving(report)}</span>
              </div>
              <button type="button" aria-label={`Open ${report.name}`} onClick={() => show(report)}>
                Open
              </button>
              <button type="button" aria-label={`Copy ${report.name} for Power Query`} onClick={() => copy(report)}>
                Copy for Power Query
              </button>
              <button type="button" aria-label={`Delete ${report.name}`} onClick={() => remove(report)}>
                Delete
              </button>
            </li>
          ))}
        </ul>
        <form method="dialog">
          <button>Close</button>
        </form>
      </dialog>
    </>
  );
}

const describeSaving = ({ updatedBy, updatedAt }: SavedReport): string => `${updatedBy ?? 'the command line'}, ${updatedAt.slice(0, 10)}`;
