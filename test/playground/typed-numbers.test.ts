import { toPreview } from '../../src/playground/web/rows/answer-preview';
import { createCellFormat } from '../../src/playground/web/values/cell-format';
import { readTypedNumber } from '../../src/playground/web/values/exact-decimal';

const LOCALES = [
  ...['en-US', 'de-DE', 'de-CH', 'fr-FR', 'fr-CH', 'pt-PT', 'hi-IN', 'sv-SE', 'fi-FI', 'ar-EG', 'fa-IR', 'bn-BD', 'he-IL', 'mr-IN'],
  ...['my-MM', 'ne-NP'],
];

describe.each(LOCALES)('a person of %s', (locale) => {
  test.each(['0.00', '10.50', '-10.50', '1234.50', '-1234567.89', '9007199254740993.01'])('types %s as the page writes it', (amount) => {
    const written = createCellFormat([locale]).format(amount, 'money');
    expect({ written, read: readTypedNumber(written, [locale]) }).toEqual({ written, read: amount });
    const difference = createCellFormat([locale]).sign(amount, 'money');
    expect({ difference, read: readTypedNumber(difference, [locale]) }).toEqual({ difference, read: amount });
  });

  test('types the digits 0 to 9', () => {
    const { decimal } = Object.fromEntries(
      new Intl.NumberFormat(locale).formatToParts(0.5).map(({ type, value }) => [type, value]),
    ) as Record<'decimal', string>;
    expect(readTypedNumber(`-12${decimal}5`, [locale])).toBe('-12.5');
  });
});

test.each(['1٫5', '१२', 'x', '-', '+', '+-5', '-+5', '٬', '10,50'])('a person of en-US is told that %j is no number', (text) => {
  expect(readTypedNumber(text, ['en-US'])).toBeUndefined();
});

test('a person of de-DE reads the number of rows in a long answer as the page of de-DE writes numbers', () => {
  const { extensions } = toPreview({ data: { nodes: Array.from({ length: 12_345 }, (_, n) => n) } }, ['de-DE']);
  expect(extensions?.preview).toContain('Only the first 2.000 of 12.345 rows are shown here.');
});
