import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync, type ClassType } from 'type-graphql';
import { AuthenticationResolver } from '../resolvers/authentication-resolver';
import { DepositDetailResolver } from '../resolvers/deposit-detail-resolver';
import { AllocationResolver, DepositResolver, DesignationResolver, DonorResolver, TransactionResolver } from '../resolvers/record-resolver';
import { SavedReportResolver } from '../resolvers/saved-report-resolver';
import { SummaryTotalsResolver } from '../resolvers/summary-totals-resolver';
import { ViewerResolver } from '../resolvers/viewer-resolver';
import { callDirectly } from './direct-resolvers';
import { restInLists } from './loop-turns';
import { streamRows } from './row-field';

export interface Resolvers {
  readonly authentication: AuthenticationResolver;
  readonly depositDetails: DepositDetailResolver;
  readonly viewer: ViewerResolver;
  readonly savedReports: SavedReportResolver;
}

/** The executable schema over these resolver instances, the same ones that the v2 door calls. Without them it can be read, not executed. */
export function createSchema(resolvers?: Resolvers): GraphQLSchema {
  const instances = new Map<ClassType, object | undefined>([
    [AuthenticationResolver, resolvers?.authentication],
    [DepositDetailResolver, resolvers?.depositDetails],
    [ViewerResolver, resolvers?.viewer],
    [SavedReportResolver, resolvers?.savedReports],
    // They have no state: what they need comes with each request.
    ...[SummaryTotalsResolver, DepositResolver, TransactionResolver, AllocationResolver, DesignationResolver, DonorResolver].map(
      (type) => [type, new type()] as const,
    ),
  ]);
  const schema = buildSchemaSync({
    resolvers: [...instances.keys()] as [ClassType, ...ClassType[]],
    container: { get: (type: ClassType) => instances.get(type) },
    // Arguments are checked by their scalars and by the domain, never by decorators.
    validate: false,
  });
  callDirectly(schema, instances);
  streamRows(schema, 'depositDetails');
  restInLists(schema);
  return schema;
}
