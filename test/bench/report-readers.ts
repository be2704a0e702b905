import { HttpClient } from './http-client';

/**
 * Reads one report after the other on so many connections until it is ended, and prints a line when each has had its first:
 * report-readers.ts URL PROVISION COUNT
 */
async function main(): Promise<void> {
  const [url = '', provision = '', count] = process.argv.slice(2);
  const clients = Array.from({ length: Number(count) }, () => new HttpClient());
  const read = (client: HttpClient) => client.read({ url, headers: { Provision: provision } });
  const readForever = async (client: HttpClient): Promise<never> => {
    for (;;) await read(client);
  };
  await Promise.all(clients.map(read));
  console.log('reading');
  await Promise.all(clients.map(readForever));
}

void main();
