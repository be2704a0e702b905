import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { createClient } from './client';
import { gateway, provision } from './settings';
import './style.css';

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <ApolloProvider client={createClient(gateway, provision)}>
      <App />
    </ApolloProvider>
  </StrictMode>,
);
