import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openGateway } from '../support/open-gateway';
import { read, READINGS } from '../support/replicated-gateway';
import { WatchedBooks } from '../topology/watched-books';

const gateway = openGateway();
const READING_COUNT = Object.keys(READINGS).length;
/** As many requests as there are paths in a round of the load, of which one in five reads the books. */
const REQUESTS = READING_COUNT * 5;

/** The bodies of each reading in three versions, by the version. */
const bodies: Readonly<Record<string, string>>[] = [{}];
let books: WatchedBooks;
let front: Server;
/** Makes the body that a caller gets of the newest version's and those of all. */
let mix: (newest: string, reading: string) => string;

/** Answers as a gateway that is faulty would: with the newest version in the header, and another body. */
beforeAll(async () => {
  books = new WatchedBooks(gateway.services, gateway.organization);
  for (let version = 1; version <= 3; version++) {
    await books.turn();
    const readOne = async (reading: string) =>
      [reading, (await read(gateway.url, gateway.organization.apiProvision, reading)).body] as const;
    bodies.push(Object.fromEntries(await Promise.all(Object.values(READINGS).map(readOne))));
  }
  front = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
      const posted = Buffer.concat(pieces).toString();
      const reading = posted === '' ? request.url! : (JSON.parse(posted) as { query: string }).query;
      const answer = await read(gateway.url, gateway.organization.apiProvision, reading);
      const body = Object.hasOwn(bodies[1]!, reading) ? mix(answer.body, reading) : answer.body;
      response.writeHead(answer.status, { 'X-Data-Version': String(answer.version) }).end(body);
    })();
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
});
afterAll(() => void front.close());

const loadFront = () => books.load(1, REQUESTS, [`http://127.0.0.1:${(front.address() as AddressInfo).port}`]);

describe('a watcher of answers', () => {
  test('takes those of the version that they name for right', async () => {
    mix = (newest) => newest;
    const load = await loadFront();
    expect([load.answers.length, load.wrong, load.isServed()]).toEqual([REQUESTS, [], true]);
  });

  test.each([1, 2])('notices every answer that has the values of version %d and names version 3', async (version) => {
    mix = (_newest, reading) => bodies[version]![reading]!;
    expect((await loadFront()).wrong).toHaveLength(READING_COUNT);
  });

  test('notices every answer that has the values of two versions, neither of them the newest', async () => {
    mix = (_newest, reading) => {
      const [first, second] = [bodies[1]![reading]!, bodies[2]![reading]!];
      return first.slice(0, first.length / 2) + second.slice(second.length / 2);
    };
    expect((await loadFront()).wrong).toHaveLength(READING_COUNT);
  });

  test('notices every answer that has no values', async () => {
    mix = () => '{}';
    expect((await loadFront()).wrong).toHaveLength(READING_COUNT);
  });

  test('does not take a gateway that turns most of its callers away for one that serves', async () => {
    const away = createServer((_request, response) => response.writeHead(429).end()).listen(0, '127.0.0.1');
    await once(away, 'listening');
    const load = await books.load(1, REQUESTS, [`http://127.0.0.1:${(away.address() as AddressInfo).port}`]);
    away.close();
    expect([load.lost, load.wholeShare(), load.isServed()]).toEqual([[], 0, false]);
    // Where nothing was asked, nothing was served.
    expect(load.isServed(Date.now() + 1000)).toBe(false);
  });
});
