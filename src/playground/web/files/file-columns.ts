import { isLineName, lineFields, lineNames, v2Names, type FieldType } from '../../../line/line-fields';
import { summaryGiftDates } from '../../../values/figure-names';

/** The choices of columns that the gateway has for its files of lines, by the values of its parameter `columns`. */
export const lineFileColumns = { v2: v2Names, all: lineNames } as const;
export type LineFileColumns = keyof typeof lineFileColumns;

export type FileColumnKind = 'money' | 'date' | 'count' | 'boolean' | 'text';

const KINDS: Readonly<Record<FieldType, FileColumnKind>> = {
  ...({ id: 'text', text: 'text', name: 'text', code: 'text', status: 'text' } as const),
  ...({ number: 'count', date: 'date', money: 'money', boolean: 'boolean' } as const),
};
const TIMES = ['day', 'week', 'month', 'quarter', 'year'];
const GIFT_DATES = Object.keys(summaryGiftDates);

/** Tells from the name of a column of a gateway's file what its values are. The figures of a summary are amounts, counts and dates of gifts. */
export function kindOfFileColumn(name: string): FileColumnKind {
  if (isLineName(name)) return KINDS[lineFields[name].type];
  if (TIMES.includes(name) || GIFT_DATES.some((date) => name.endsWith(date))) return 'date';
  return name.endsWith('amount') ? 'money' : 'count';
}
