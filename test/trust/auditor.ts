import { createOrganization } from '../support/gateway';
import { send, startTarget, type Answer, type Finding } from './attack';

const TYPENAME = '{ __typename }';
const JSON_TYPE = { 'Content-Type': 'application/json' };
const repeat = (count: number, item: (n: number) => string): string => Array.from({ length: count }, (_, n) => item(n)).join(' ');
const hasData = ({ status, body }: Answer): boolean => status < 400 && /"data":\s*\{/.test(body);

/** The twelve faults that graphql-cop looks for: how it asks, and the answer that it counts as a fault. */
type Check = readonly [name: string, ask: (post: Post, get: Get) => Promise<boolean>];
type Post = (query: unknown, headers?: Record<string, string>) => Promise<Answer>;
type Get = (path: string, headers?: Record<string, string>) => Promise<Answer>;
const CHECKS: readonly Check[] = [
  ['101 aliases', async (post) => hasData(await post({ query: `{ ${repeat(101, (n) => `a${n}: __typename`)} }` }))],
  ['a batch of 10', async (post) => /^\[/.test((await post(Array.from({ length: 10 }, () => ({ query: TYPENAME })))).body)],
  ['10 directives', async (post) => ((await post({ query: `{ __typename ${'@aa'.repeat(10)} }` })).body.match(/@aa/g) ?? []).length >= 10],
  ['500 repeated fields', async (post) => hasData(await post({ query: `{ ${repeat(500, () => '__typename')} }` }))],
  [
    'circular introspection',
    async (post) => hasData(await post({ query: '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }' })),
  ],
  ['introspection', async (post) => hasData(await post({ query: '{ __schema { types { name } } }' }))],
  ['field suggestions', async (post) => /did you mean/i.test((await post({ query: '{ depositDetail }' })).body)],
  ['a query page', async (_post, get) => /graphiql|playground/i.test((await get('/graphql', { Accept: 'text/html' })).body)],
  ['queries by GET', async (_post, get) => hasData(await get('/graphql?query=%7B__typename%7D'))],
  ['mutations by GET', async (_post, get) => hasData(await get('/graphql?query=mutation%7B__typename%7D'))],
  ['a form', async (post) => hasData(await post('query=%7B__typename%7D', { 'Content-Type': 'application/x-www-form-urlencoded' }))],
  ['traces and stacks', async (post) => /stacktrace|"tracing"|exception/.test((await post({ query: '{ nothing' })).body)],
];

/** Runs the checks as nobody, and with the provision of a page, which is public. */
export async function run(): Promise<readonly Finding[]> {
  const target = await startTarget();
  try {
    const { webProvision } = await createOrganization(target.services);
    const url = target.serve.url;
    const findings: Finding[] = [];
    for (const [who, credentials, most] of [
      ['no credentials', {}, 0],
      // A GET is no danger with a header that no page of another site can send unasked.
      ["a page's provision", { Provision: webProvision }, 1],
    ] as const) {
      const post: Post = (body, headers = JSON_TYPE) =>
        send(`${url}/graphql`, {
          method: 'POST',
          headers: { ...credentials, ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        });
      const get: Get = (path, headers = {}) => send(url + path, { headers: { ...credentials, ...headers } });
      const found: string[] = [];
      for (const [name, ask] of CHECKS) if (await ask(post, get)) found.push(name);
      findings.push({
        name: `with ${who}`,
        figure: `${found.length} of ${CHECKS.length} (goal ${most})${found.length > 0 ? `: ${found.join(', ')}` : ''}`,
        holds: found.length <= most,
      });
    }
    return findings;
  } finally {
    await target.stop();
  }
}
