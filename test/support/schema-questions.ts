import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
} from 'graphql';
import { operationLimits } from '../../src/resolvers/request/operation-limits';
import { createSchema } from '../../src/graphql/schema';

/** The period of the books. */
export const PERIOD = ['startDate: "2024-01-01"', 'endDate: "2024-12-31"'];
const COMPARED = 'compareWith: { startDate: "2023-01-01", endDate: "2023-12-31" }';
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'Query.deposit': ['depositId: "1"'],
  'Query.transaction': ['transactionId: "P10"'],
  'Query.designation': ['designationId: 3'],
  'Query.donor': ['donorId: 7'],
  'Query.donors': ['search: "canary"'],
  'Query.depositDetails': PERIOD,
  'Query.depositDetailsConnection': PERIOD,
  'Query.depositSummary': [...PERIOD, 'groupBy: [DAY, DESIGNATION]', COMPARED],
  // The file of a query needs the privileges of its fields, here those of totals.
  'Query.reportFile': [
    `query: ${JSON.stringify(`{ depositSummary(${PERIOD.join(', ')}, groupBy: [DAY, DESIGNATION]) { groups(first: 1000) { nodes { all { lines } } } } }`)}`,
  ],
  'Query.depositChanges': [...PERIOD, 'from: { version: 1 }'],
  'Query.fundBudget': ['startDate: "2024-01-01"', 'through: "2024-12-31"'],
  'DepositChangeConnection.summaryBefore': ['groupBy: [DAY, DESIGNATION]', COMPARED],
  'DepositChangeConnection.summaryAfter': ['groupBy: [DAY, DESIGNATION]', COMPARED],
  'DepositDetailConnection.summary': ['groupBy: [DAY, DESIGNATION]', COMPARED],
};
/** Queries of everybody, and the audit, which has a privilege of its own. */
const OTHER_QUERIES = [
  'authenticatedTestSystem',
  'authenticatedTestSession',
  'viewer',
  'errorCodes',
  'auditRecords',
  'receipts',
  'reportMails',
];
/** A field on a way through the schema. */
export interface Step {
  readonly type: GraphQLObjectType;
  readonly field: GraphQLField<unknown, unknown>;
  /** The type of the record that a field of an interface is asked for. */
  readonly record?: GraphQLObjectType;
}

const schema = createSchema();
const IDS: Readonly<Record<string, string>> = {
  ...{ Deposit: '1', Transaction: 'P10', Allocation: 'P100', Designation: '3', Donor: '7' },
  SavedReport: 'fund',
};
const NODES = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType).map(({ name }) => name);

function idOf(type: string): string {
  const id = IDS[type];
  if (id === undefined) throw new Error(`No record of the type ${type} is known`);
  return id;
}

/** A summary below a file has the figures of one at the root. */
const isReference = ({ type }: Step): boolean => type.name === 'ReportFile';

/** All ways from the query to a scalar that pass no type twice. */
function pathsFrom(type: GraphQLObjectType, path: readonly Step[] = []): Step[][] {
  return Object.values(type.getFields()).flatMap((field) => {
    if (path.length === 0 && OTHER_QUERIES.includes(field.name)) return [];
    const next = getNamedType(field.type);
    // A file compares nothing.
    if (path.some(isReference) && ['compared', 'change'].includes(field.name)) return [];
    // Every valid provision may know its kind, logged in or not.
    if (type.name === 'Provision' && field.name === 'kind') return [];
    const steps = [...path, { type, field }];
    if (isInterfaceType(next)) {
      const ways = NODES.flatMap((name) => {
        const record = schema.getType(name) as GraphQLObjectType;
        return pathsFrom(record, [...path, { type, field, record }]);
      });
      // A record leads on as the one at the root does, so that its lists' own values are enough of it, and its own values of a list.
      const most = isListType(getNullableType(field.type)) ? 1 : 3;
      return ways.filter((way) => way.length <= steps.length + most);
    }
    if (!isObjectType(next)) return [steps];
    if (path.some((step) => step.type === next)) return [];
    const ways = pathsFrom(next, steps);
    if (type.name !== 'DepositDetail') return ways;
    // A record of a line leads on as one at the root does, in pages alone. A line of a change leads to none.
    return path.some((step) => step.type.name === 'DepositChange') ? [] : ways.filter((way) => way.length === steps.length + 1);
  });
}

/** Values of the same record: the way to it, and their fields. */
export interface Question {
  readonly way: readonly Step[];
  readonly values: readonly Step[];
}

/** The questions for all values that the paths lead to, those of a record in one. */
function toQuestions(paths: readonly (readonly Step[])[]): Question[] {
  const questions = new Map<string, { way: readonly Step[]; values: Step[] }>();
  for (const path of paths) {
    const way = path.slice(0, -1);
    const key = way.map((step) => `${call(step)} ${step.record?.name ?? ''}`).join();
    const question = questions.get(key) ?? { way, values: [] };
    questions.set(key, question);
    question.values.push(path.at(-1)!);
  }
  return [...questions.values()];
}

/** A question in one of three manners: its field at the root of an operation, and the fragments for it. */
export interface Written {
  readonly question: Question;
  readonly root: string;
  readonly fragments: string;
  /** The names in the answer of the fields on the way, and of those of the values. */
  readonly nameOf: (step: Step, depth: number) => string;
}

/** Writes a question with only its root field renamed, with every field renamed, or with each step in a fragment. */
export function write(question: Question, manner: number, number: number): Written {
  const { way, values } = question;
  const nameOf = (step: Step, depth: number): string =>
    depth === 0 || manner === 1 ? `q${number}_${depth}_${step.field.name}` : step.field.name;
  const called = (step: Step, depth: number): string =>
    nameOf(step, depth) === step.field.name ? call(step) : `${nameOf(step, depth)}: ${call(step)}`;
  const steps = [...way.map((step) => [step]), values];
  if (manner < 2) {
    const root = steps.reduceRight((below, fields, depth) => {
      const selected = fields.map((step) => `${called(step, depth)} ${depth < way.length ? ofRecord(step, below) : ''}`).join(' ');
      return depth === 0 ? selected : `{ ${selected} }`;
    }, '');
    return { question, root, fragments: '', nameOf };
  }
  const fragments = steps.map((fields, depth) => {
    const below = depth < way.length ? `{ ...F${number}_${depth + 1} }` : '';
    const { name } = fields[0]!.type;
    return `fragment F${number}_${depth} on ${name} { ... on ${name} { ${fields.map((step) => called(step, depth)).join(' ')} ${below} } }`;
  });
  return { question, root: `...F${number}_0`, fragments: fragments.join(' '), nameOf };
}

/** The operation that asks some questions. */
export const toQuery = (questions: readonly Written[]): string =>
  `query { ${questions.map(({ root }) => root).join(' ')} } ${questions.map(({ fragments }) => fragments).join(' ')}`;

/** Operations of as many questions as the limits of an operation allow. */
export function toOperations(questions: readonly Written[]): Written[][] {
  const operations: Written[][] = [];
  for (const question of questions) {
    const more = [...(operations.at(-1) ?? []), question];
    const query = toQuery(more);
    const count = (pattern: RegExp): number => query.match(pattern)?.length ?? 0;
    const fits =
      more.reduce((fields, { question: { way, values } }) => fields + (way.length > 0 ? 1 : values.length), 0) <=
        operationLimits.maxRootFields &&
      count(/q\d+_\d+_\w+:/g) <= operationLimits.maxAliases &&
      count(/\w+|[^\s\w]/g) <= operationLimits.maxTokens;
    if (fits) operations.splice(-1, 1, more);
    else operations.push([question]);
  }
  return operations;
}
const ofRecord = ({ record }: Step, below: string): string => (record ? `{ ... on ${record.name} ${below} }` : below);
const call = ({ type, field, record }: Step): string => {
  // One group leaves others for `rest`.
  const length = type.name === 'DepositSummary' ? 1 : 2;
  const short = field.args.some(({ name }) => name === 'first') ? [`first: ${length}`] : [];
  const id = record && JSON.stringify(Buffer.from(`${record.name}:${idOf(record.name)}`).toString('base64url'));
  const own = id === undefined ? [] : [field.name === 'node' ? `id: ${id}` : `ids: [${id}]`];
  const args = [...(ARGUMENTS[`${type.name}.${field.name}`] ?? []), ...own, ...short];
  return `${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}`;
};

/** All ways through the schema to a value. */
export const paths = pathsFrom(schema.getQueryType()!);
/** The questions for all values of the schema. */
export const questions = toQuestions(paths);
