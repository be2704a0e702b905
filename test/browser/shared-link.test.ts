import { PASSWORD, v2Line } from '../support/gateway';
import { execute, logIn, openPlayground, pasteInto } from '../support/playground-browser';

const gateway = openPlayground({ lines: [v2Line()] });
const { organization } = gateway;

describe('an analyst', () => {
  test('copies a link to a query, and another opens it after the login, in a new tab', async () => {
    const { page } = await gateway.visit();
    await logIn(page);
    const query = 'query Shared { depositDetails(startDate: "2024-01-01", endDate: "2024-01-31") { donorLastName amount } }';
    await pasteInto(page, 'query', query);
    await execute(page);
    await page.locator('.graphiql-response').getByText('Lovelace').waitFor();
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The link is copied.').waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(new URLSearchParams(new URL(link).hash.slice(1)).get('query')).toBe(query);
    for (const secret of [organization.webProvision, PASSWORD, 'Lovelace', '10.50']) expect(decodeURIComponent(link)).not.toContain(secret);
    await page.context().close();

    const other = await gateway.visit({ hash: new URL(link).hash });
    const sent: string[] = [];
    other.page.on('request', (request) => sent.push(request.url()));
    await logIn(other.page);
    await other.page.locator('.graphiql-tab').filter({ hasText: 'Shared' }).waitFor();
    expect(await other.page.locator('.graphiql-tab').count()).toBe(2);
    expect(other.page.url()).toBe(`${gateway.url}/playground#graphql`);
    await execute(other.page);
    await other.page.locator('.graphiql-response').getByText('Lovelace').waitFor();
    expect([sent.filter((url) => url.includes('Shared')), other.faults]).toEqual([[], []]);
    await other.page.context().close();
  });

  test.each([
    ['is broken', '#query=%7B%20viewer'],
    ['has variables that are none', '#query=%7Bviewer%7Busername%7D%7D&variables=%7B'],
    ['is huge', `#query=%7B${'a'.repeat(20_000)}%7D`],
  ])('is told that a link is ignored that %s', async (_what, hash) => {
    const { page } = await gateway.visit({ hash });
    await logIn(page);
    await page.getByRole('alert').filter({ hasText: 'The link holds no query that can be read. It was ignored.' }).waitFor();
    expect([await page.locator('.graphiql-tab').count(), page.url()]).toEqual([1, `${gateway.url}/playground#graphql`]);
    await page.context().close();
  });

  test('gets no link to a query with a password in it', async () => {
    const { page } = await gateway.visit();
    await logIn(page);
    await pasteInto(page, 'query', 'mutation { login(input: { username: "ada", password: "secret" }) { viewer { username } } }');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('alert').filter({ hasText: 'This query mentions a password: no link was made.' }).waitFor();
    await page.context().close();
  });
});
