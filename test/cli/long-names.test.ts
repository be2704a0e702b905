import fc from 'fast-check';
import { openDepositFiles, toNdjson, type DepositFiles } from '../support/deposit-files';
import { v2Line } from '../support/gateway';

// Each test imports many lines at once.

let files: DepositFiles;

beforeAll(async () => {
  files = await openDepositFiles();
});
afterAll(() => files.close());

const IDS = ['deposit_id', 'transaction_id', 'allocation_id'];
const NAMES = ['donor_first_name', 'donor_last_name'];
const LINES = 20;

/** Random texts of exactly so many bytes of UTF-8, which no compression makes shorter: characters of one to four bytes. */
const anyCharactersOf = (bytes: number): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        ...[
          [0x21, 0x7e],
          [0xa1, 0x7ff],
          [0x800, 0xd7ff],
          [0x10000, 0x3ffff],
        ].map(([min, max]) => fc.integer({ min: min!, max: max! })),
      ),
      { minLength: bytes, maxLength: bytes },
    )
    .map((codes) => {
      let text = '';
      for (const code of codes) {
        const character = String.fromCodePoint(code);
        if (Buffer.byteLength(text + character) <= bytes) text += character;
      }
      return text.padEnd(text.length + bytes - Buffer.byteLength(text), '~');
    });
/** The same between two letters: an id that begins or ends with a character that nobody sees is refused. */
const anyTextOf = (bytes: number): fc.Arbitrary<string> => anyCharactersOf(bytes - 2).map((text) => `a${text}z`);
const longest = fc.record({
  deposit_id: anyTextOf(600),
  transaction_id: anyTextOf(600),
  allocation_id: anyTextOf(600),
  donor_first_name: anyTextOf(500),
  donor_last_name: anyTextOf(500),
});
/** Texts that no index holds have no limit. */
const LONG_TEXTS = ['address1', 'city', 'email_address', 'status', 'designation', 'designation_memo', 'main_memo'];

test('an operator gets back every name and id of the most bytes, and every long text, as they came', async () => {
  const property = fc.asyncProperty(
    fc.uniqueArray(longest, { minLength: LINES, maxLength: LINES, selector: ({ allocation_id }) => allocation_id }),
    anyTextOf(9_000),
    async (entries, long) => {
      const organization = await files.createOrganization();
      const texts = Object.fromEntries(LONG_TEXTS.map((field) => [field, long]));
      const lines = entries.map((entry, position) => v2Line({ ...entry, ...texts, donor_id: position + 1, deposit_date: '9999-12-31' }));
      const result = await files.import(organization, 'lines.ndjson', toNdjson(lines));
      expect(result).toMatchObject({ status: 0, stderr: '' });
      const { response } = JSON.parse(await files.export(organization, 'json')) as { response: typeof lines };
      expect(response.sort(byDonor)).toEqual(lines);
    },
  );
  // Shorter texts would prove nothing.
  await fc.assert(property, { numRuns: 2, endOnFailure: true });
});
const byDonor = (a: Record<string, unknown>, b: Record<string, unknown>): number => Number(a.donor_id) - Number(b.donor_id);

test('an operator is told each name and id that is a byte too long, and nothing is written', async () => {
  const before = await files.countRows();
  const fields = [...IDS.map((field) => ({ field, most: 600 })), ...NAMES.map((field) => ({ field, most: 500 }))];
  const lines = fields.map(({ field, most }) => {
    const [text] = fc.sample(anyTextOf(most + 1), 1);
    return { ...v2Line({ transaction_id: field, allocation_id: field }), [field]: text };
  });
  const result = await files.import(await files.createOrganization(), 'lines.ndjson', toNdjson(lines));
  const faults = fields.map(({ field, most }, position) => `line ${position + 1}: ${field} is longer than ${most} bytes of UTF-8\n`);
  expect(result).toEqual({ status: 1, stdout: '', stderr: `${faults.join('')}Nothing was imported: ${fields.length} faults\n` });
  expect(await files.countRows()).toEqual(before);
});
