import { useGraphiQL } from '@graphiql/react';
import { useRef, useState } from 'react';
import { download, saveFile, type DownloadProgress } from './download';
import { fileFormats, toExportParameters, type FileFormat } from './export-request';

const formatTitles: Readonly<Record<FileFormat, string>> = { csv: 'CSV', ndjson: 'NDJSON', json: 'JSON' };

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: DownloadProgress | undefined }
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

/** Takes home all rows of the query that is shown, not only those on its page. */
export function DownloadBar({ provision }: { readonly provision: string }) {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const [format, setFormat] = useState<FileFormat>('csv');
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);

  const start = async (): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    setState({ kind: 'running', progress: undefined });
    try {
      const parameters = toExportParameters(queryEditor?.getValue() ?? '', variableEditor?.getValue() ?? '');
      const file = await download(parameters, {
        provision,
        format,
        signal: controller.signal,
        onProgress: (progress) => setState({ kind: 'running', progress }),
      });
      saveFile(file);
      setState({ kind: 'done', text: `${countOf(file.rows)} in ${file.name}, checked: digest ${file.digest.slice(0, 12)}…` });
    } catch (error) {
      const text = controller.signal.aborted ? 'The download was cancelled. Nothing was saved.' : (error as Error).message;
      setState({ kind: 'failed', text });
    }
  };
  return (
    <section className="download" aria-label="Download">
      {state.kind === 'running' ? (
        <>
          <progress aria-label="Rows downloaded" max={state.progress?.allRows} value={state.progress?.rows} />
          <span>{describe(state.progress)}</span>
          <button type="button" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <label htmlFor="file-format">All rows as</label>
          <select id="file-format" value={format} onChange={(event) => setFormat(event.target.value as FileFormat)}>
            {fileFormats.map((each) => (
              <option key={each} value={each}>
                {formatTitles[each]}
              </option>
            ))}
          </select>
          <button type="button" onClick={() => void start()} disabled={!queryEditor}>
            Download
          </button>
        </>
      )}
      <span className="download-outcome" role={state.kind === 'failed' ? 'alert' : 'status'}>
        {state.kind === 'done' || state.kind === 'failed' ? state.text : ''}
      </span>
    </section>
  );
}

const countOf = (rows: number): string => `${rows.toLocaleString()} ${rows === 1 ? 'row' : 'rows'}`;

function describe(progress: DownloadProgress | undefined): string {
  if (!progress) return 'Adding up…';
  const { rows, allRows, bytes } = progress;
  return `${rows.toLocaleString()} of ${countOf(allRows)}, ${(bytes / 1e6).toFixed(1)} MB`;
}
