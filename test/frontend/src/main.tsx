import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { createClient } from './client';
import { gateway, provision } from './settings';
import './style.css';

// The page loads anew when the session ends, holds nothing of its user then, and shows the login.
const client = createClient(gateway, provision, () => location.reload());

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
