import { defineConfig } from 'prisma/config';

// generate, validate and format never run the schema engine, yet the CLI would download it first.
// Never for migrate: with a stand-in binary `migrate deploy` exits 0 having done nothing.
const needsNoEngine = ['generate', 'validate', 'format'];
if (process.argv.some((argument) => needsNoEngine.includes(argument))) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
