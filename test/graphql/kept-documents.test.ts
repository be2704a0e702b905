import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { graphql } from '../support/gateway';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

/** Documents are kept up to 30 MB. As many of them are sent as would take three times that. */
const DOCUMENTS = 300;
const MOST_MB = 60;
const TOGETHER = 8;

/** The bytes that are in use once all garbage is collected. */
function usedMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1024 ** 2;
}

/**
 * A document of short names, which takes far more memory than its text, and is in no cache yet. Few of its names are the same, because each is
 * compared with every other one like it.
 */
const document = (n: number): string =>
  `{ ${Array.from({ length: 20 }, (_, root) => `a${root}: designations(first: 1) { nodes { ${'id name designationId __typename '.repeat(5)} } }`).join(' ')} } #${n}`;

test('documents that are asked once and never again take no more memory than is kept for them', async () => {
  // Nobody is logged in, so that the documents are checked and kept, and nothing is read.
  const { webProvision: provision } = gateway.organization;
  const ask = async (n: number): Promise<void> => {
    const { body } = await graphql(gateway.url, document(n), { provision });
    expect(body.errors![0]!.extensions.code).toBe('NOT_LOGGED_IN');
  };
  for (let n = 0; n < 20; n++) await ask(-1 - n);
  const before = usedMb();
  for (let n = 0; n < DOCUMENTS; n += TOGETHER) await Promise.all(Array.from({ length: TOGETHER }, (_, next) => ask(1 + n + next)));
  expect(usedMb() - before).toBeLessThan(MOST_MB);
});
