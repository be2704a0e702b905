import { MOST_ROWS } from './agent-answers';

const text = (description: string) => ({ type: 'string', description });
const count = (description: string) => ({ type: 'integer', description });
const countOrNull = (description: string) => ({ type: ['integer', 'null'], description });
const textOrNull = (description: string) => ({ type: ['string', 'null'], description });

/** The shape of the answer of a tool that reads a report. */
export const REPORT_OUTPUT = {
  type: 'object' as const,
  properties: {
    dataVersion: countOrNull('The data version of the books that the answer is of; null before the first import.'),
    startDate: text('The first date.'),
    endDate: text('The last date.'),
    rows: count('The number of all rows.'),
    isWhole: { type: 'boolean', description: 'True when firstRows has all rows.' },
    columns: {
      type: 'array',
      items: { type: 'string' },
      description: 'The columns of the rows, by the names that files have. A field of the query that is no column of a line is not there.',
    },
    firstRows: { type: 'array', items: { type: 'object' }, description: `The first rows, at most ${MOST_ROWS}.` },
    totals: {
      type: 'object',
      description: 'The totals of all rows. A gift that is split over several lines counts once by transaction.',
      properties: {
        lines: count('Lines.'),
        transactions: count('Gifts.'),
        deposits: count('Deposits.'),
        amountByLine: text('The total by line.'),
        amountByTransaction: text('The total by gift.'),
        amountByAllocation: textOrNull('The total of the shares that are known; null where none is.'),
        unknownAllocations: count('How many shares that total lacks.'),
      },
      required: ['lines', 'transactions', 'deposits', 'amountByLine', 'amountByTransaction', 'amountByAllocation', 'unknownAllocations'],
    },
    digest: textOrNull('The digest of the lines; null for a caller who may not read them.'),
    moneyDigest: textOrNull('The digest of the money of the lines; null for changes.'),
    file: textOrNull(
      'A link to the file with all rows of this data version, in CSV. It asks for the same rights, and expires. Null where its address would be too long, and before the first import.',
    ),
    fileFault: text('The reason why there is no link.'),
  },
  required: ['dataVersion', 'startDate', 'endDate', 'rows', 'isWhole', 'columns', 'firstRows', 'totals', 'digest', 'moneyDigest', 'file'],
};

/** The shape of the answer of a tool that runs a trusted document. */
export const DOCUMENT_OUTPUT = {
  type: 'object' as const,
  properties: {
    dataVersion: countOrNull('The data version of the books; null when nothing of them was read, and before the first import.'),
    digest: text('SHA-256 of the whole data as JSON, in hex.'),
    data: { type: ['object', 'null'], description: 'The data, as GraphQL answers it.' },
    errors: { type: 'array', items: { type: 'object' }, description: 'The errors of fields, which are null in the data.' },
    retryAfterSeconds: count('The seconds after which to ask again, where an error has a cause that passes.'),
    cuts: {
      type: 'array',
      description: `The lists of which the data has the first rows alone, or null for none: an answer has at most ${MOST_ROWS} rows. The pageInfo beside such a list is null.`,
      items: {
        type: 'object',
        properties: { path: text('The way to the list.'), rows: count('Its rows.'), shown: count('The rows that the data has.') },
        required: ['path', 'rows', 'shown'],
      },
    },
  },
  required: ['dataVersion', 'digest', 'data'],
};
