import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// The paths are absolute because the build runs from the repository's root.
export default defineConfig({
  root: resolve(import.meta.dirname, 'web'),
  base: '/playground/',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: resolve(import.meta.dirname, '../../dist/playground-web'),
    emptyOutDir: true,
    sourcemap: false,
    // React's compiler has left directives in GraphiQL's packages that mean nothing any more.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
    // Monaco, which GraphiQL loads on demand, and its workers are that large.
    chunkSizeWarningLimit: 4000,
  },
});
