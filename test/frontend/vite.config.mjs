import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import relay from 'vite-plugin-relay-lite';

export default defineConfig({
  root: import.meta.dirname,
  // `npm run generate:frontend` runs Relay's compiler.
  plugins: [react(), relay({ cwd: import.meta.dirname, codegen: false })],
  build: { emptyOutDir: true, rolldownOptions: { input: ['index.html', 'relay.html'].map((page) => `${import.meta.dirname}/${page}`) } },
});
