import { renderRows } from '../../src/rows/row-stream';
import { createJsonTemplate, type JsonMember } from '../../src/rows/row-template';
import { toCopyText, toJsonText, type Row } from '../support/row-reference';

const MEMBERS: readonly JsonMember[] = ['a', 'b'].map((key) => ({ key, field: key, kind: 'text' as const }));

interface Report {
  readonly bytes: AsyncGenerator<Buffer>;
  readonly expected: string;
}

async function* streamOf(pieces: Iterable<string>): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** A report whose values and keys have this text, so that no bytes of it look like another report's. */
function openReport(text: string, lines = 20_000): Report {
  const members = MEMBERS.map((member) => ({ ...member, key: `${text}${member.key}` }));
  const rows: Row[] = Array.from({ length: lines }, (_, n) => [`${text}${n}`, text.repeat(n % 9)]);
  return { bytes: renderRows(streamOf([toCopyText(rows)]), createJsonTemplate(members)), expected: toJsonText(members, rows) };
}

async function readAll({ bytes }: Report): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of bytes) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks).toString();
}

describe('reports that are read at once', () => {
  test.each(['first', 'next'])('reach each reader of the %s five whole when the readers take their blocks in turn', async () => {
    const reports = ['x', 'yy', 'zzz', 'é', '"'].map((text) => openReport(text));
    const read: Buffer[][] = reports.map(() => []);
    for (let hasMore = true; hasMore;) {
      const blocks = await Promise.all(reports.map(({ bytes }) => bytes.next()));
      // Each reader's block must still be its own after all others have got theirs.
      blocks.forEach((block, n) => block.done || read[n]!.push(Buffer.from(block.value)));
      hasMore = blocks.some(({ done }) => !done);
    }
    expect(read.map((blocks) => Buffer.concat(blocks).toString())).toEqual(reports.map(({ expected }) => expected));
  });

  test('leave the last block of a reader who left as it was, because a slow connection may still send it', async () => {
    const left = openReport('secret of one organization ');
    const block = (await left.bytes.next()).value as Buffer;
    const before = Buffer.from(block);
    await left.bytes.return(undefined);
    for (const text of ['x', 'yy', 'zzz']) {
      const other = openReport(text);
      expect(await readAll(other)).toBe(other.expected);
    }
    expect(block.equals(before)).toBe(true);
  });

  test('reach their readers whole after thousands of readers have left', async () => {
    for (let n = 0; n < 3000; n++) {
      const { bytes } = openReport('x', 2);
      await bytes.next();
      await bytes.return(undefined);
    }
    const other = openReport('y');
    expect(await readAll(other)).toBe(other.expected);
  });
});

describe('a report that fails', () => {
  const template = createJsonTemplate(MEMBERS);
  const readPieces = (pieces: Iterable<string>): Promise<string> =>
    readAll({ bytes: renderRows(streamOf(pieces), template), expected: '' });

  test.each([
    ['has a value too many', '1\t2\n3\t4\t5\n'],
    ['has a value too few', '1\t2\n3\n'],
  ])('because a row %s gives its reader an error, and the next reader a whole report', async (_title, copy) => {
    await expect(readPieces([copy])).rejects.toThrow('A row of COPY has more or fewer values than its template has columns');
    const next = openReport('x');
    expect(await readAll(next)).toBe(next.expected);
  });

  test.each(['1', '1\t', '1\t2', '1\t2\n3', '1\t2\\', '1\t2\n\\'])(
    'because its rows end with %j gives its reader an error',
    async (copy) => {
      await expect(readPieces([copy])).rejects.toThrow('The output of COPY ended within a row');
      const next = openReport('x');
      expect(await readAll(next)).toBe(next.expected);
    },
  );

  test('because the database fails gives its reader that error, and the next reader a whole report', async () => {
    function* failing(): Generator<string> {
      yield '1\t2\n3\t';
      throw new Error('division by zero');
    }
    await expect(readPieces(failing())).rejects.toThrow('division by zero');
    const next = openReport('x');
    expect(await readAll(next)).toBe(next.expected);
  });
});
