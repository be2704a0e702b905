import { toAsOf } from '../../src/playground/web/values/states';

test.each([
  ['', 'UTC', undefined],
  ['12', 'UTC', { version: 12 }],
  ['2026-10-31', 'UTC', { at: '2026-10-31T23:59:59.999Z' }],
  ['2026-10-31', 'America/New_York', { at: '2026-11-01T03:59:59.999Z' }],
  // A day of 25 hours, and one that ends where midnight does not exist.
  ['2026-11-01', 'America/New_York', { at: '2026-11-02T04:59:59.999Z' }],
  ['2026-04-23', 'Africa/Cairo', { at: '2026-04-23T21:59:59.999Z' }],
  ['2026-10-31', 'Pacific/Kiritimati', { at: '2026-10-31T09:59:59.999Z' }],
])('the state “%s” in the zone %s', (state, zone, asked) => {
  expect(toAsOf(state, zone)).toEqual(asked);
});
