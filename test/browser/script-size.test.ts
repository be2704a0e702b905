import { logIn, openPlayground } from '../support/playground-browser';
import { v2Line } from '../support/gateway';

/** Bytes of gzipped scripts. */
const MOST_BYTES = 320_000;

const gateway = openPlayground({ lines: [v2Line({ deposit_date: '2024-05-01' })] });

test('an analyst waits for 320 kB of gzipped script at most, from the login to the rows of a report', async () => {
  const page = await gateway.newPage();
  const scripts = new Set<string>();
  page.context().on('response', (response) => {
    if (/\.js$/.test(new URL(response.url()).pathname)) scripts.add(response.url());
  });
  await page.goto(`${gateway.url}/playground#reports/designations?period=all-time`);
  await page.getByLabel('Provision').fill(gateway.organization.webProvision);
  await logIn(page);
  await page.locator('[data-row="0"]').getByText('General Fund').waitFor();
  const sizes = await Promise.all(
    [...scripts].map(async (url) => {
      const { headers } = await fetch(url, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(headers.get('Content-Encoding')).toBe('gzip');
      return Number(headers.get('Content-Length'));
    }),
  );
  expect([...scripts].some((url) => /\/table-worker-[^/]+$/.test(url))).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MOST_BYTES);
  await page.context().close();
});
