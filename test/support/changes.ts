import { lineFields, lineNames } from '../../src/line/line-fields';
import type { OpenGateway } from './open-gateway';
import { graphql, type GraphqlAnswer, type TestOrganization } from './gateway';

export const FIELDS = lineNames.map((name) => lineFields[name].field).join(' ');
const EFFECT = `effect { lines transactions deposits byLine { amount feeAmount netAmount }
  byTransaction { amount feeAmount netAmount } byAllocation { amount unknown } }`;
const TOTALS = `lines transactions deposits byLine { amount feeAmount netAmount }
  byTransaction { amount feeAmount netAmount } byAllocation { amount unknown }`;

type Gateway = Pick<OpenGateway, 'url'>;
export type Line = Readonly<Record<string, unknown>>;
export interface Change {
  readonly class: string;
  readonly before: Line | null;
  readonly after: Line | null;
  readonly columns: readonly string[];
  readonly wasInside: boolean;
  readonly isInside: boolean;
  readonly effect: unknown;
}
interface Totals {
  readonly class: string;
  readonly changes: number;
  readonly effect: unknown;
}
export interface Summary {
  readonly all: unknown;
  readonly groups: { readonly nodes: readonly { readonly key: { readonly designationId: number }; readonly all: unknown }[] };
}
export interface Changes {
  readonly nodes: readonly Change[];
  readonly totalCount: number;
  readonly classes: readonly Totals[];
  readonly designations: {
    readonly nodes: readonly { readonly designationId: number; readonly designation: string; readonly classes: readonly Totals[] }[];
  };
  readonly summaryBefore: Summary;
  readonly summaryAfter: Summary;
}

/** Asks as the organization's API provision. */
export const ask = ({ url }: Gateway, { apiProvision }: TestOrganization, query: string): Promise<GraphqlAnswer> =>
  graphql(url, query, { provision: apiProvision });

const SUMMARY = `(groupBy: [DESIGNATION]) { all { ${TOTALS} } groups { nodes { key { designationId } all { ${TOTALS} } } } }`;
const ALL = `nodes { class before { ${FIELDS} } after { ${FIELDS} } columns wasInside isInside ${EFFECT} } totalCount
  classes { class changes ${EFFECT} } designations { nodes { designationId designation classes { class changes ${EFFECT} } } }
  summaryBefore${SUMMARY} summaryAfter${SUMMARY}`;

/** Reads what changed, with everything that a test looks at unless it says what. */
export async function readChanges(gateway: Gateway, organization: TestOrganization, given: string, selection = ALL): Promise<Changes> {
  const { body } = await ask(gateway, organization, `{ depositChanges(${given}, first: 100) { ${selection} } }`);
  expect(body.errors).toBeUndefined();
  return body.data!.depositChanges as Changes;
}

/** The numbers of figures, in their order; amounts in cents, of which an unknown sum has none. */
export const numbersOf = (figures: unknown): number[] =>
  Object.values(figures as object).flatMap((value: unknown) =>
    typeof value === 'object' && value !== null
      ? numbersOf(value)
      : [Math.round(Number(value ?? 0) * (typeof value === 'string' ? 100 : 1))],
  );
