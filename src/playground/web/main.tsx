import { createRoot } from 'react-dom/client';
import { FaultBoundary } from './look/fault-boundary';
import { PlaygroundPage } from './playground-page';
import './look/playground.css';
import './look/results.css';

const app = document.getElementById('app');
const reload = (
  <button type="button" onClick={() => location.reload()}>
    Reload the page
  </button>
);

if (app) {
  createRoot(app).render(
    <FaultBoundary part="The editors and their answers" wayBack={reload}>
      <PlaygroundPage />
    </FaultBoundary>,
  );
}
