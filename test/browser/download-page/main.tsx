import { proxy, wrap } from 'comlink';
import { createRoot } from 'react-dom/client';
import { DownloadDialog } from '../../../src/playground/web/dialogs/download-dialog';
import type { DownloadableReport } from '../../../src/playground/web/dialogs/downloadable-report';
import type { Cell, TableColumn } from '../../../src/playground/web/values/table-types';
import type { WriteWorker } from './write-worker';
import '../../../src/playground/web/look/playground.css';
import '../../../src/playground/web/look/dialogs.css';

// The page of a report of lines: its address has the Provision, and how often the lines are repeated to make the table long.
const parameters = new URLSearchParams(location.search);
const provision = parameters.get('provision') ?? '';
const repeats = Number(parameters.get('repeats') ?? 1);
const worker = wrap<WriteWorker>(new Worker(new URL('./write-worker.ts', import.meta.url), { type: 'module' }));

const query = `query ($startDate: LocalDate!, $endDate: LocalDate!) {
  depositDetails(startDate: $startDate, endDate: $endDate) { depositDate designation allocationAmount }
}`;
const columns: readonly TableColumn[] = [
  { id: 'deposit_date', title: 'Deposit date', kind: 'date', adds: false },
  { id: 'designation', title: 'Fund', kind: 'text', adds: false },
  { id: 'allocation_amount', title: 'To this fund', kind: 'money', adds: true },
];

async function loadReport(): Promise<DownloadableReport> {
  const names = columns.map(({ id }) => id);
  const path = `/export/deposit-details.ndjson?start_date=2024-01-01&end_date=2024-12-31&columns=${names.join(',')}`;
  const text = await (await fetch(path, { headers: { Provision: provision } })).text();
  const lines = text.trimEnd().split('\n');
  const rows = lines.map((line) => Object.values(JSON.parse(line) as Record<string, Cell>));
  await worker.hold(rows, repeats);
  const content = {
    title: 'Gifts of 2024',
    columns,
    facts: [{ name: 'What one row is', value: 'a share of a gift', kind: 'text' as const }],
  };
  return {
    ...content,
    fileName: 'gifts-2024',
    request: { query, variables: { startDate: '2024-01-01', endDate: '2024-12-31' } },
    isOfLines: true,
    count: rows.length * repeats,
    write: (format, onProgress, signal) => {
      signal.addEventListener('abort', () => void worker.cancel());
      return worker.write(format, content, proxy(onProgress));
    },
  };
}

const app = document.getElementById('app');
if (app) {
  const report = await loadReport();
  createRoot(app).render(
    <>
      <h1>Gifts</h1>
      <DownloadDialog report={report} provision={provision} onSessionChange={() => console.log('the download failed')} />
    </>,
  );
}
