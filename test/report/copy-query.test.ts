import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { Stopwatch } from '../../src/data/postgres/request-times';
import { CopyQuery, type CopyOptions } from '../../src/data/reading/copy-query';
import { ReadingSocket } from '../../src/data/postgres/reading-socket';

/** Hands on what the server sends in pieces that end where the test says, however the network has cut it. */
class CutSocket extends Socket {
  /** Bytes that came since the cut was set. */
  received = 0;
  private isCutAfter: (byte: number) => boolean = () => false;

  cut(isCutAfter: (byte: number) => boolean): void {
    this.received = 0;
    this.isCutAfter = isCutAfter;
  }

  override push(piece: Buffer | null): boolean {
    if (!piece) return super.push(piece);
    let start = 0;
    let more = true;
    for (let end = 1; end <= piece.length; end++) {
      if (!this.isCutAfter(++this.received) && end < piece.length) continue;
      // Each piece has a buffer of its own, so that nobody can read beyond it or write into the next one.
      more = super.push(Buffer.from(piece.subarray(start, end)));
      start = end;
    }
    return more;
  }
}

const ROWS = `SELECT n::text, CASE n WHEN 2 THEN NULL ELSE repeat(E'ü\\t"\\\\', n) END, '' FROM generate_series(1, 5) n`;
const FAILING_ROWS = `SELECT n::text, (10 / (n - 3))::text FROM generate_series(1, 5) n`;
const BEFORE = [{ text: 'BEGIN' }, { text: `SELECT set_config('gateway.value_1', $1, true)`, values: ['a value'] }];
/** The answers of the statement before each COPY. */
const answers: string[] = [];
const copyOf = (select: string): CopyOptions => ({
  before: BEFORE,
  text: `COPY (${select}) TO STDOUT`,
  after: [{ text: 'COMMIT' }],
  answerTimeoutMs: 60_000,
  waiting: new Stopwatch(),
  onAnswer: (value) => answers.push(value),
});

let socket: CutSocket;
let client: Client;

beforeAll(async () => {
  socket = new CutSocket();
  client = new Client({ connectionString: process.env.TEST_SERVER_URL!, stream: () => socket });
  await client.connect();
});
afterAll(() => client.end());

const copy = (select: string): Promise<string> => text(client.query(new CopyQuery(copyOf(select))).read());

/** The connection is pg's again, and no transaction is open on it. */
async function expectUsable(): Promise<void> {
  const { rows } = await client.query(`SELECT now() = statement_timestamp() AS "isAlone", 'ü' AS value`);
  expect(rows).toEqual([{ isAlone: true, value: 'ü' }]);
}

/** Bytes of the server's whole answer. */
async function countBytes(ask: () => Promise<unknown>): Promise<number> {
  socket.cut(() => false);
  await ask();
  await expectUsable();
  const whole = socket.received;
  socket.cut(() => false);
  await expectUsable();
  return whole - socket.received;
}

describe('a reader of a COPY whose answer comes in pieces', () => {
  test('gets the same bytes wherever it is cut, and leaves a connection that can be used', async () => {
    const expected = await text(client.query(copyTo(`COPY (${ROWS}) TO STDOUT`)));
    expect(expected.split('\n')).toHaveLength(6);
    const length = await countBytes(() => copy(ROWS));
    expect(length).toBeGreaterThan(150);
    for (let cut = 1; cut <= length; cut++) {
      socket.cut((byte) => byte === cut);
      expect([cut, await copy(ROWS)]).toEqual([cut, expected]);
      await expectUsable();
    }
    socket.cut(() => true);
    expect(await copy(ROWS)).toBe(expected);
    await expectUsable();
    expect(new Set(answers)).toEqual(new Set(['a value']));
  });

  test('gets the error of a row wherever it is cut, and leaves a connection that can be used', async () => {
    const fail = async (): Promise<unknown> => {
      const error: unknown = await copy(FAILING_ROWS).catch((thrown: unknown) => thrown);
      await client.query('ROLLBACK');
      return error;
    };
    const expected = { code: '22012', severity: 'ERROR', message: 'division by zero', routine: 'int4div' };
    const length = await countBytes(fail);
    expect(length).toBeGreaterThan(150);
    for (let cut = 1; cut <= length; cut++) {
      socket.cut((byte) => byte === cut);
      expect([cut, await fail()]).toEqual([cut, expect.objectContaining(expected)]);
      await expectUsable();
    }
    socket.cut(() => true);
    expect(await fail()).toMatchObject(expected);
    await expectUsable();
  });

  test('gets the lines before the error of a row', async () => {
    const lines: Buffer[] = [];
    const reading = async (): Promise<void> => {
      for await (const piece of client.query(new CopyQuery(copyOf(FAILING_ROWS))).read()) lines.push(piece);
    };
    await expect(reading()).rejects.toThrow('division by zero');
    expect(Buffer.concat(lines).toString()).toBe('1\t-5\n2\t-10\n');
    await client.query('ROLLBACK');
    await expectUsable();
  });
});

describe('a COPY on a socket', () => {
  test.each([
    ['that somebody else reads too', 2, (listener: () => void) => socket.on('data', listener)],
    ['that nobody reads', 0, () => socket.removeAllListeners('data')],
  ])('%s is refused before anything is sent, and pg reads on as before', async (_title, count, change) => {
    const pgListeners = socket.listeners('data') as (() => void)[];
    change(() => undefined);
    const sent = socket.bytesWritten;
    await expect(copy(ROWS)).rejects.toThrow(
      `The socket of a pg connection has ${count} 'data' listeners, but only the data of exactly one can be taken over`,
    );
    expect(socket.bytesWritten).toBe(sent);
    socket.removeAllListeners('data');
    for (const listener of pgListeners) socket.on('data', listener);
    socket.resume();
    await expectUsable();
    await copy(ROWS);
    await expectUsable();
  });

  test('that is refused beside others does not keep them from their answers', async () => {
    const listener = (): void => undefined;
    const before = client.query('SELECT 1 AS one');
    const refused = copy(ROWS);
    socket.on('data', listener);
    await expect(refused).rejects.toThrow("2 'data' listeners");
    socket.off('data', listener);
    expect((await before).rows).toEqual([{ one: 1 }]);
    await expectUsable();
  });
});

describe('two outputs on sockets that use their memory again', () => {
  const ROW_COUNT = 20_000;
  const rowsOf = (letter: string): string => `SELECT n || repeat('${letter}', 300) FROM generate_series(1, ${ROW_COUNT}) n`;
  const clients: Client[] = [];
  beforeAll(async () => {
    for (let index = 0; index < 2; index++) {
      const reading = new Client({ connectionString: process.env.TEST_SERVER_URL!, stream: () => new ReadingSocket() });
      clients.push(reading);
      await reading.connect();
    }
  });
  afterAll(() => Promise.all(clients.map((each) => each.end())));

  test('have their own rows, and a piece stays as it is until the next is asked for', async () => {
    const outputs = clients.map((each, index) => each.query(new CopyQuery(copyOf(rowsOf('ab'[index]!)))).read());
    const read: string[][] = [[], []];
    for (let isOpen = true; isOpen;) {
      isOpen = false;
      const pieces = [];
      for (const output of outputs) {
        const { value } = (await output.next()) as { value?: Buffer };
        pieces.push({ value, before: value?.toString() ?? '' });
      }
      // Both sockets go on reading meanwhile.
      await setTimeout(1);
      pieces.forEach(({ value, before }, index) => {
        expect((value?.toString() ?? '') === before).toBe(true);
        read[index]!.push(before);
        isOpen ||= value !== undefined;
      });
    }
    read.forEach((rows, index) => {
      const expected = Array.from({ length: ROW_COUNT }, (_, row) => `${row + 1}${'ab'[index]!.repeat(300)}\n`).join('');
      expect(rows.join('') === expected).toBe(true);
    });
    for (const each of clients) expect((await each.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
