// Makes src/generated/prisma of prisma/schema.prisma, as `prisma generate` does. Prisma's command line would bring 150 MB more, for its Studio and
// for databases that it serves, and it asks Prisma's servers for news at each build.
import { createRequire } from 'node:module';

// The packages' ES modules import files that Node does not find.
const require = createRequire(import.meta.url);
const { PrismaClientTsGenerator } = require('@prisma/client-generator-ts');
const { getGenerators, loadSchemaContext } = require('@prisma/internals');

const schemaContext = await loadSchemaContext({ schemaPath: { cliProvidedPath: 'prisma/schema.prisma' }, printLoadMessage: false });
const registry = { 'prisma-client': { type: 'in-process', generator: new PrismaClientTsGenerator() } };
const [generator] = await getGenerators({ schemaContext, registry });
await generator.generate();
