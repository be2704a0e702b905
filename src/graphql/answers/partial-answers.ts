import { GraphQLNonNull, isObjectType, type GraphQLSchema } from 'graphql';

/** Root fields that always have a value: nothing that they ask for can be refused or fail. */
const SURE_FIELDS: readonly string[] = ['errorCodes'];

/** Fields below the root that read something of their own, beside neighbours that are already there. */
const FIELDS_APART: Readonly<Record<string, readonly string[]>> = {
  Deposit: ['totals'],
  Designation: ['totals'],
  Donor: ['totals'],
  Transaction: ['allocationsTotal'],
  DepositChangeConnection: ['classes', 'designations', 'summaryAfter', 'summaryBefore', 'totalCount'],
  DepositDetailConnection: ['summary', 'totalCount'],
  DepositSummary: ['digest', 'groups', 'moneyDigest'],
  ReportFile: ['downloadUrl', 'summary'],
  SavedReport: ['downloadUrl'],
};

/**
 * Makes every field nullable that may fail by itself, so that its error does not take the rest of the answer away. Lists within lists stay
 * as they are: their fault is that of all items, and would otherwise be told once for each.
 */
export function letFieldsFail(schema: GraphQLSchema): void {
  const root = schema.getQueryType()!;
  const names = Object.keys(root.getFields()).filter((name) => !SURE_FIELDS.includes(name));
  for (const [typeName, apart] of Object.entries({ ...FIELDS_APART, [root.name]: names })) {
    const type = schema.getType(typeName);
    for (const name of apart) {
      const field = isObjectType(type) ? type.getFields()[name] : undefined;
      if (!field) throw new Error(`The schema has no field ${typeName}.${name}`);
      if (field.type instanceof GraphQLNonNull) field.type = field.type.ofType as typeof field.type;
    }
  }
}
