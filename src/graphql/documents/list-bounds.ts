import { getNamedType, getNullableType, isLeafType, isListType, isObjectType, type GraphQLSchema } from 'graphql';
import { MAX_CLOSED_MONTHS } from '../../domain/reports/period-service';
import { MAX_REPORT_PARAMETERS, MAX_SAVED_REPORTS } from '../../domain/reports/saved-report-service';
import { MAX_SCHEDULES } from '../../domain/mail/schedule-service';
import { errorTable, requestFaultTable } from '../../errors';
import { countPossibleGroups, type GroupBy } from '../../formats/line-groups';
import { changeClasses } from '../../values/change-classes';
import { MAX_BUDGET_FUNDS } from '../../values/budget-limits';
import { MAX_JOURNAL_FUNDS } from '../../values/journal-layouts';
import { MAX_SHOWN_MAILS } from '../../values/saved-report-limits';
import { MAX_NODES } from '../../resolvers/node-resolver';

/** The greatest lengths of lists that have no page arguments. */
export const listBounds: Readonly<Record<string, number>> = {
  'DepositChangeConnection.classes': changeClasses.length,
  'ChangeDesignation.classes': changeClasses.length,
  'FundBudget.funds': MAX_BUDGET_FUNDS,
  'JournalAccounts.funds': MAX_JOURNAL_FUNDS,
  'PeriodClose.months': MAX_CLOSED_MONTHS,
  'Query.errorCodes': Object.keys(errorTable).length + Object.keys(requestFaultTable).length,
  'Query.reportMails': MAX_SHOWN_MAILS,
  'Query.savedReports': MAX_SAVED_REPORTS,
  'ReportMailing.schedules': MAX_SCHEDULES,
  'SavedReport.parameters': MAX_REPORT_PARAMETERS,
};

/** The values of arguments by their names, those of the fields around a field included. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The greatest lengths of pages whose list cannot be longer, whatever length is asked for. */
export const pageBounds: Readonly<Record<string, (given: Arguments) => number>> = {
  'DepositSummary.groups': ({ groupBy, startDate, endDate, compareWith }) =>
    [{ startDate, endDate }, compareWith ?? []].flat().reduce<number>((count, period) => count + groupsOf(groupBy, period), 0),
};

function groupsOf(groupBy: unknown, period: unknown): number {
  const { startDate, endDate } = period as Readonly<Record<'startDate' | 'endDate', string | null | undefined>>;
  const by = groupBy as readonly GroupBy[] | undefined;
  if (by?.length === 0) return 0;
  return by && startDate && endDate ? countPossibleGroups(by, { startDate, endDate }) : Infinity;
}

/** Lists that have one item for each value of an argument. */
export const listsByArgument: Readonly<Record<string, { readonly argument: string; readonly most: number }>> = {
  'Query.nodes': { argument: 'ids', most: MAX_NODES },
};

/** Root lists whose rows are written into the answer as they arrive from the database. Their items do not count as values. */
export const streamedFields: readonly string[] = ['depositDetails'];

/** The fields of a connection that hold its page. The arguments that bound the page are on the field that returns the connection. */
const PAGE_FIELDS: readonly string[] = ['nodes', 'edges'];

/**
 * Throws unless every list has a length that the cost of an operation can count: a page, a bound of its own, the values of an argument, or
 * a stream. A list without one would cost 1, however long it is. Lists of scalars below the root are few and short.
 */
export function assertListsAreBounded(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const target = getNamedType(field.type);
      const name = `${type.name}.${field.name}`;
      if (isConnection(target.name) && !field.args.some((argument) => argument.name === 'first')) {
        throw new Error(`${name} is a connection without the argument first`);
      }
      if (!isListType(getNullableType(field.type)) || (isLeafType(target) && !roots.includes(type))) continue;
      const isPage = isConnection(type.name) && PAGE_FIELDS.includes(field.name);
      const isStreamed = type === schema.getQueryType() && streamedFields.includes(field.name);
      if (!isPage && !isStreamed && !listsByArgument[name] && listBounds[name] === undefined)
        throw new Error(`${name} is a list without a bound: add it to listBounds`);
    }
  }
}

const isConnection = (typeName: string): boolean => typeName.endsWith('Connection');
