import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './playground.css';
import './results.css';
import { createRoot } from 'react-dom/client';
import { PlaygroundPage } from './playground-page';

const app = document.getElementById('app');
if (app) createRoot(app).render(<PlaygroundPage />);
