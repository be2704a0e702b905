import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (name: string): string => readFileSync(join(__dirname, '../../prisma', name), 'utf8');

/** The models of schema.prisma by the names of their tables. */
function modelsOf(schema: string): Map<string, string> {
  const models = [...schema.matchAll(/^model \w+ \{\n(.*?)^\}/gms)].map(([, body]) => body!);
  return new Map(models.map((body) => [/@@map\("(\w+)"\)/.exec(body)![1]!, body]));
}

/** The names in a list of prisma/citus.sql. */
function namesIn(list: 'books' | 'stay'): string[] {
  const [, names] = new RegExp(`${list} CONSTANT text\\[\\] := ARRAY\\[([^\\]]*)\\]`).exec(read('citus.sql'))!;
  return [...names!.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
}

const tenants = [...modelsOf(read('schema.prisma'))].filter(([, body]) => body.includes('@map("organization_id")'));

test('every table of organizations has its place on a distributed database, and no other', () => {
  expect(tenants.length).toBeGreaterThan(10);
  expect([...namesIn('books'), ...namesIn('stay')].sort()).toEqual(tenants.map(([table]) => table).sort());
});

test('every distributed table has keys that begin with the organization, as its nodes need them', () => {
  const bodies = new Map(tenants);
  for (const table of namesIn('books')) expect(bodies.get(table)).toMatch(/@@id\(\[organizationId,/);
});
