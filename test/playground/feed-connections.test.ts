import { toConnection } from '../../src/playground/web/files/feed-connection';

const lead = (path: string): string => toConnection(new URL(`/export/${path}`, 'http://127.0.0.1'), 'pbids');
const LINES = 'deposit-details.csv?start_date=2024-01-01';
const GROUPS = 'deposit-summary.csv?start_date=2024-01-01&group_by=';

test.each([
  [LINES, 'Lines.pbids?start_date=2024-01-01'],
  [`${LINES}&columns=all`, 'Lines.pbids?start_date=2024-01-01'],
  [`${LINES}&columns=amount,donor_id`, 'Lines.pbids?start_date=2024-01-01&%24select=amount%2CdonorId'],
  [`${GROUPS}DONOR`, 'SummaryByDonor.pbids?start_date=2024-01-01'],
  [
    `${GROUPS}DONOR&columns=donor_id,donor_last_name,allocation_amount`,
    'SummaryByDonor.pbids?start_date=2024-01-01&%24select=donorId%2CdonorLastName%2CallocationAmount',
  ],
  [`${GROUPS}MONTH&columns=month,lines`, 'SummaryByMonth.pbids?start_date=2024-01-01&%24select=month%2Clines'],
  [`${GROUPS}CITY&columns=city`, 'SummaryByCity.pbids?start_date=2024-01-01&%24select=city'],
])('the file %s is open to programs at %s', (file, feed) => {
  expect(lead(file)).toBe(`/odata/connections/${feed}`);
});

test('the columns of v2 are chosen by their names', () => {
  const select = new URL(lead(`${LINES}&columns=v2`), 'http://127.0.0.1').searchParams.get('$select')!.split(',');
  expect([select.length, select[0], select.includes('depositStatus')]).toEqual([26, 'depositId', false]);
});

test.each([
  `${LINES}&columns=amount,late`,
  `${GROUPS}DONOR&columns=donor_id,address1`,
  `${GROUPS}DONOR&columns=donor_id,first_gift`,
  `${GROUPS}DESIGNATION&columns=designation,posted_lines`,
  `${GROUPS}DESIGNATION&columns=donor_id`,
  `${GROUPS}DESIGNATION&group_by=MONTH`,
  `${GROUPS}DESIGNATION&compare_start_date=2023-01-01`,
  'deposit-changes.csv?since=1',
])('no feed has %s', (file) => {
  expect(() => lead(file)).toThrow('Excel and Power BI open lines with their own columns');
});
