import { HttpClient } from './http-client';

/** Reads one report after the other on so many connections until it is ended: report-readers.ts URL PROVISION COUNT */
async function main(): Promise<void> {
  const [url = '', provision = '', count] = process.argv.slice(2);
  const readForever = async (): Promise<never> => {
    const client = new HttpClient();
    for (;;) await client.read({ url, headers: { Provision: provision } });
  };
  await Promise.all(Array.from({ length: Number(count) }, readForever));
}

void main();
