import { createRoot } from 'react-dom/client';
import { restoreTheme } from './look/color-scheme';
import { FaultBoundary, ReloadButton } from './look/fault-boundary';
import { PlaygroundPage } from './playground-page';
import './look/tokens.css';
import './look/controls.css';
import './look/playground.css';
import './look/results.css';
import './look/table.css';
import './look/print.css';
import './look/frame.css';
import './look/fields.css';
import './look/reports.css';
import './look/report.css';
import './look/bank.css';
import './look/dialogs.css';
import './look/home.css';
import './look/board.css';
import './look/editors.css';

const app = document.getElementById('app');

restoreTheme();
if (app) {
  createRoot(app).render(
    <FaultBoundary part="The reports and the editors" wayBack={<ReloadButton />}>
      <PlaygroundPage />
    </FaultBoundary>,
  );
}
