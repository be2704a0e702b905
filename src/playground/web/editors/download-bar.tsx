import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import { copyText } from '../look/clipboard';
import { download, saveFile, type DownloadProgress } from '../files/download';
import { fileFormatNames, fileFormats, type FileFormat } from '../../../values/file-formats';
import { useEditors, useRunKey } from './editors';
import { describeFile } from '../dialogs/download-run';
import { FileProgressBar } from '../dialogs/file-progress-bar';
import { copyAdvice, copyForms, toCopyText, type CopyForm } from '../files/address-text';
import { readQuery } from './edited-query';
import { fetchFileAddress, fetchTotals, type ReportQuery } from '../files/file-url';
import { SavedReports } from './saved-reports';
import { describeShownLoss, type ShownTable } from './shown-table';

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: DownloadProgress | undefined }
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

interface DownloadBarProps {
  readonly provision: string;
  /** Called when a download fails: the session may have ended. */
  readonly onFailure: () => void;
  /** The result table, where it is shown. */
  readonly shownTable: { readonly current: ShownTable | undefined };
}

/** Downloads all rows of the query in the editor, not only those on its page of the answer. */
export function DownloadBar({ provision, onFailure, shownTable }: DownloadBarProps) {
  const editors = useEditors();
  const operationName = useGraphiQL((state) => state.operationName);
  const [format, setFormat] = useState<FileFormat>('csv');
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);

  const runKey = useRunKey();
  const shownKey = useRef(runKey);
  shownKey.current = runKey;
  /** Shows how an action ended, unless another query or tab is shown by now. */
  const tell = (key: unknown, ended: State): void => setState(shownKey.current === key ? ended : { kind: 'idle' });
  useEffect(() => setState((before) => (before.kind === 'running' ? before : { kind: 'idle' })), [runKey]);
  // Logging out removes this bar, and so cancels its download.
  useEffect(() => () => running.current?.abort(), []);
  const current = (): ReportQuery => readQuery(editors.read(), operationName);
  const open = ({ query, variables }: ReportQuery): void => editors.openTab({ query, variables: JSON.stringify(variables, null, 2) });
  const copy = async (form: CopyForm): Promise<void> => {
    const key = runKey;
    try {
      // The text for Power Query reads CSV, whatever format is chosen for downloads.
      const address = await fetchFileAddress(provision, current(), form === 'powerQuery' ? 'csv' : format);
      await copyText(toCopyText(form, address));
      tell(key, { kind: 'done', text: copyAdvice[form] });
    } catch (error) {
      tell(key, { kind: 'failed', text: (error as Error).message });
    }
  };
  const start = async (): Promise<void> => {
    const key = runKey;
    const controller = new AbortController();
    running.current = controller;
    setState({ kind: 'running', progress: undefined });
    try {
      const query = current();
      const { url } = await fetchFileAddress(provision, query, format, controller.signal);
      const file = await download(url, {
        provision,
        format,
        signal: controller.signal,
        countRows: async (signal) => (await fetchTotals(provision, query, signal))?.lines,
        onProgress: (progress) => setState({ kind: 'running', progress }),
      });
      saveFile(file);
      const lost = describeShownLoss(shownTable.current);
      setState({ kind: 'done', text: lost === undefined ? describeFile(file) : `${describeFile(file)}. ${lost}` });
    } catch (error) {
      const text = controller.signal.aborted ? 'The download was cancelled. Nothing was saved.' : (error as Error).message;
      tell(key, { kind: 'failed', text });
      if (!controller.signal.aborted) onFailure();
    }
  };
  return (
    <section className="download" aria-label="Download">
      {state.kind === 'running' ? (
        <>
          <FileProgressBar progress={state.progress} />
          <button type="button" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <label htmlFor="file-format">All rows as</label>
          <select id="file-format" value={format} onChange={(event) => setFormat(event.target.value as FileFormat)}>
            {fileFormatNames.map((each) => (
              <option key={each} value={each}>
                {fileFormats[each].title}
              </option>
            ))}
          </select>
          <button type="button" onClick={() => void start()} disabled={!editors.isReady}>
            Download
          </button>
          <CopyButton onCopy={(form) => void copy(form)} />
          <SavedReports
            provision={provision}
            current={current}
            onOpen={open}
            lost={() => describeShownLoss(shownTable.current)}
            isReady={editors.isReady}
            onFailure={onFailure}
          />
        </>
      )}
      <span className="download-outcome" role={state.kind === 'failed' ? 'alert' : 'status'}>
        {state.kind === 'done' || state.kind === 'failed' ? state.text : ''}
      </span>
    </section>
  );
}

function CopyButton({ onCopy }: { readonly onCopy: (form: CopyForm) => void }) {
  const [form, setForm] = useState<CopyForm>('powerQuery');
  return (
    <span className="copy-as">
      <label htmlFor="copy-form">or the address as</label>
      <select id="copy-form" value={form} onChange={(event) => setForm(event.target.value as CopyForm)}>
        {Object.entries(copyForms).map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
      <button type="button" onClick={() => onCopy(form)}>
        Copy
      </button>
    </span>
  );
}
