import { defineConfig } from 'prisma/config';

// generate, validate and format never run the schema engine, yet the CLI would download it first. A stand-in binary prevents that.
// It must not be set for migrate: `migrate deploy` would then exit 0 without doing anything.
const needsNoEngine = ['generate', 'validate', 'format'];
if (process.argv.some((argument) => needsNoEngine.includes(argument))) {
  process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;
}

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
