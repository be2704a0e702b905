import { resolve } from 'node:path';
import { constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compression, defineAlgorithm } from 'vite-plugin-compression2';
import { listPackages } from '../cli/third-parties.mjs';

// The highest quality, 11, takes twenty times as long for files that are a tenth smaller.
const brotli = defineAlgorithm('brotliCompress', { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

// The paths are absolute because the build runs in the repository's root.
const webDirectory = resolve(import.meta.dirname, 'web');
const packages = listPackages('page');

/**
 * The page is in English, and so are the texts of its fields for screen readers. Their libraries bring these in thirty-four languages, which
 * would be a tenth of the script. Dates and numbers are written by the browser, in the language of the reader.
 */
const englishTexts = {
  name: 'english-texts',
  enforce: 'pre',
  resolveId(source, importer) {
    const [, language, name, ending] = /^(.*\/)([a-z]{2}-[A-Z]{2})(\.m?js)$/.exec(source) ?? [];
    if (!importer || !/\/node_modules\/react-(aria|stately)/.test(importer) || name === undefined || name === 'en-US') return null;
    return this.resolve(`${language}en-US${ending}`, importer, { skipSelf: true });
  },
};

/** The parser of XML has a stream of Node beside what the page uses. It does without where there is none. */
const noStreams = {
  name: 'no-streams',
  enforce: 'pre',
  resolveId: (source, importer) => (source === 'stream' && /\/node_modules\/sax\//.test(importer ?? '') ? '\0no-streams' : null),
  load: (id) => (id === '\0no-streams' ? 'export const Stream = undefined;' : null),
};

/** GraphiQL's styles bring two fonts in thirty-four parts, without their licenses. The page has the fonts of the reader's system. */
const systemFonts = {
  name: 'system-fonts',
  enforce: 'pre',
  transform: (code, id) => (/\/node_modules\/graphiql\/dist\/style\.css/.test(id) ? code.replaceAll(/@font-face\s*\{[^}]*\}/g, '') : null),
};

export default defineConfig({
  root: webDirectory,
  base: '/playground/',
  plugins: [
    englishTexts,
    systemFonts,
    react(),
    compression({ include: /\.(css|js|ttf)$/, algorithms: [brotli, 'gzip'], logLevel: 'silent' }),
    packages,
  ],
  worker: { format: 'es', plugins: () => [noStreams, packages] },
  build: {
    outDir: resolve(import.meta.dirname, '../../dist.next/playground-web'),
    emptyOutDir: true,
    sourcemap: false,
    // The polyfill would be a file that both pages share, and one more request of each. Browsers preload modules by themselves.
    modulePreload: { polyfill: false },
    // GraphiQL's packages hold directives of React's compiler, which have no effect here but would each print a warning.
    rolldownOptions: {
      checks: { moduleLevelDirective: false },
      input: { index: resolve(webDirectory, 'index.html'), docs: resolve(webDirectory, 'docs/index.html') },
    },
    // Monaco, the editor that GraphiQL loads on demand, and its workers have chunks of up to this many kB.
    chunkSizeWarningLimit: 4000,
  },
});
