import { useEffect, useRef, useState } from 'react';
import { Button, DialogTrigger, Label, RadioButton, RadioField, RadioGroup, Text } from 'react-aria-components';
import { formatRows } from '../values/cell-format';
import { AddressCopies } from './address-copies';
import { runDownload, type ColumnChoice, type FileProgress } from './download-run';
import type { DownloadableReport } from './downloadable-report';
import { writtenFormats, type WrittenFormat } from '../files/file-format';
import { FileProgressBar } from './file-progress-bar';
import { ModalDialog } from './modal-dialog';

/** The choices of columns, in words. */
const columnChoices: Readonly<Record<ColumnChoice, { readonly title: string; readonly about: string }>> = {
  screen: { title: 'As on the screen', about: 'The columns and rows that are shown, in their order.' },
  v2: { title: 'As the v2 interface', about: 'The 26 fields of v2, for programs. All lines, also those that a search hides.' },
  all: { title: 'All fields', about: 'Those of v2, the status of the deposit and the share. All lines, also those that a search hides.' },
};

const NO_SPREADSHEET = 'Only of the columns on the screen: the gateway’s own files are no spreadsheets.';

interface DownloadDialogProps {
  readonly report: DownloadableReport;
  readonly provision: string;
  /** Called when a download fails, because the session may have ended, and when one succeeds after that. */
  readonly onSessionChange: () => void;
}

/** A button, and the dialog in which somebody chooses a file of the report. To close the dialog cancels its download. */
export function DownloadDialog(props: DownloadDialogProps) {
  return (
    <DialogTrigger>
      <Button className="main-button">Download</Button>
      <ModalDialog title={`Download “${props.report.title}”`} isWide>
        {(close) => <DownloadForm {...props} onClose={close} />}
      </ModalDialog>
    </DialogTrigger>
  );
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: FileProgress | undefined }
  | { readonly kind: 'done' | 'failed'; readonly text: string };

function DownloadForm({ report, provision, onSessionChange, onClose }: DownloadDialogProps & { readonly onClose: () => void }) {
  const [columns, setColumns] = useState<ColumnChoice>('screen');
  const [format, setFormat] = useState<WrittenFormat>('xlsx');
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);
  const hasFailed = useRef(false);
  useEffect(() => () => running.current?.abort(), []);
  const hasChoice = report.isOfLines && report.request !== undefined;
  const choose = (next: ColumnChoice): void => {
    setColumns(next);
    // The gateway writes no spreadsheets.
    if (next !== 'screen' && format === 'xlsx') setFormat('csv');
  };
  const start = async (): Promise<void> => {
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setState({ kind: 'running', progress: undefined });
    let isOver = false;
    // A worker's progress comes by a channel of its own, so the last of it may come after the file.
    const onProgress = (progress: FileProgress): void => {
      if (!isOver) setState({ kind: 'running', progress });
    };
    const end = (kind: 'done' | 'failed', text: string): void => {
      isOver = true;
      setState({ kind, text });
    };
    try {
      const text = await runDownload(report, { columns, format }, { provision, signal, onProgress });
      end('done', text);
      // The page's bar may still tell of the failure.
      if (hasFailed.current) onSessionChange();
      hasFailed.current = false;
    } catch (error) {
      if (signal.aborted) end('failed', 'The download was cancelled. Nothing was saved.');
      else {
        const told = await (report.explain?.(error).catch(() => error) ?? error);
        end('failed', (told as Error).message);
        hasFailed.current = true;
        onSessionChange();
      }
    }
  };
  const isRunning = state.kind === 'running';
  return (
    <>
      <p>{columns === 'screen' ? `${formatRows(report.count, navigator.languages)} will come.` : 'All lines of the report will come.'}</p>
      <div className="dialog-choices">
        {hasChoice && (
          <RadioGroup value={columns} onChange={(value) => choose(value as ColumnChoice)} isDisabled={isRunning}>
            <Label>Columns</Label>
            {Object.entries(columnChoices).map(([value, { title, about }]) => (
              <Choice key={value} {...{ value, title, about }} />
            ))}
          </RadioGroup>
        )}
        <RadioGroup value={format} onChange={(value) => setFormat(value as WrittenFormat)} isDisabled={isRunning}>
          <Label>Format</Label>
          {Object.entries(writtenFormats).map(([value, { title, use }]) => {
            const isDisabled = value === 'xlsx' && columns !== 'screen';
            const about = isDisabled ? NO_SPREADSHEET : use;
            return <Choice key={value} {...{ value, title, about, isDisabled }} />;
          })}
        </RadioGroup>
      </div>
      <div className="dialog-run">
        {isRunning ? (
          <FileProgressBar progress={state.progress} />
        ) : (
          <p role={state.kind === 'failed' ? 'alert' : 'status'}>{state.kind === 'idle' ? '' : state.text}</p>
        )}
      </div>
      <div className="dialog-buttons">
        {/* A pending button keeps the focus, and a second click does not start a second file. */}
        <Button className="main-button" autoFocus isPending={isRunning} onPress={() => void start()}>
          Download
        </Button>
        <Button onPress={() => (isRunning ? running.current?.abort() : onClose())}>{isRunning ? 'Cancel' : 'Close'}</Button>
      </div>
      {report.request && (
        <AddressCopies request={report.request} notes={report.requestNotes} {...{ columns, provision }} period={report.period} />
      )}
    </>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly title: string;
  readonly about: string;
  readonly isDisabled?: boolean;
}

const Choice = ({ value, title, about, isDisabled }: ChoiceProps) => (
  <RadioField value={value} isDisabled={isDisabled}>
    <RadioButton>{title}</RadioButton>
    <Text slot="description">{about}</Text>
  </RadioField>
);
