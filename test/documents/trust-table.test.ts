import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument, ROOT, tableOf } from '../support/documents';
import { catalogue } from '../trust/catalogue';

describe('a reader of the promises', () => {
  test('finds every entry of the catalogue, with its subject and goal and what was measured', () => {
    const rows = tableOf(readDocument('docs/trust.md'), 'measured');
    expect(rows.map((row) => row.slice(0, 3))).toEqual(catalogue.map(({ id, subject, goal }) => [id, subject, goal]));
    expect(rows.filter(([, , , measured]) => !measured)).toEqual([]);
  });

  test('is promised nothing that no file tries', () => {
    const untried = catalogue.filter(({ tests, attack }) => tests === undefined && attack === undefined);
    const missing = catalogue.flatMap(({ tests = {}, attack }) =>
      [...Object.keys(tests), ...(attack === undefined ? [] : [`trust/${attack}.ts`])].filter(
        (file) => !existsSync(join(ROOT, 'test', file)),
      ),
    );
    expect([untried, missing]).toEqual([[], []]);
    expect(new Set(catalogue.map(({ id }) => id)).size).toBe(catalogue.length);
  });
});
