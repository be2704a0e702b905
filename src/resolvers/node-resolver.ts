import { isObjectType, type GraphQLResolveInfo } from 'graphql';
import { Arg, Ctx, ID, Info, Query, Resolver } from 'type-graphql';
import type { EntityGraph } from '../domain/reports/entity-service';
import type { SavedReportService } from '../domain/reports/saved-report-service';
import { AppError, InputError } from '../errors';
import { parseEntityId, typeNameOf, type NamedEntity } from '../formats/entity-ids';
import { fromGlobalId } from '../values/global-id';
import { datesAt } from '../values/periods';
import { memberEntities } from './request/entity-access';
import { lookAhead } from './request/look-ahead';
import { Node } from './request/node-types';
import { refuse, type RequestContext } from './request/request-context';
import { SAVED_REPORT, toSavedReport } from './reports/saved-report-types';

/** A record as its `id` names it: an entity of the books, or a saved report by its name. */
type NamedRecord = NamedEntity | { readonly kind: typeof SAVED_REPORT; readonly id: string };

/** The most records that `nodes` finds at once. */
export const MAX_NODES = 100;

const FOR_WHOM = 'For every logged-in user and every API provision. Donors and saved reports need the privilege of the report.';

@Resolver()
export class NodeResolver {
  constructor(private readonly savedReports: SavedReportService) {}

  @Query(() => Node, {
    nullable: true,
    description: `The record with this \`id\`, whatever its type; null when the organization has none. ${FOR_WHOM}`,
  })
  async node(
    @Arg('id', () => ID, { description: 'The `id` of a record, as the record itself gives it.' }) id: string,
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<object | null> {
    const graph = await memberEntities(context);
    const wanted = parseRecordId(id);
    if (!wanted) throw notAnId('id', id);
    return isReadable(wanted, context) ? (await this.find([wanted], graph, context, info))[0]! : refuse(context, info);
  }

  @Query(() => [Node], {
    nullable: 'items',
    description: `The records with these values of \`id\`, in the order of the values; null in the place of each that the organization does not have. A value that is no \`id\` is null too, with an error in its place. ${FOR_WHOM} Without it they are null, and the answer has one PRIVILEGE_NOT_FOUND error for all of them.`,
  })
  async nodes(
    @Arg('ids', () => [ID], { description: `The \`id\` of each record, at most ${MAX_NODES}. The records may be of different types.` })
    ids: string[],
    @Ctx() context: RequestContext,
    @Info() info: GraphQLResolveInfo,
  ): Promise<(object | null)[]> {
    const graph = await memberEntities(context);
    if (ids.length > MAX_NODES) throw new InputError(`ids has ${ids.length} values; the limit is ${MAX_NODES}`);
    const wanted = ids.map(parseRecordId);
    const refused = wanted.findIndex((each) => each && !isReadable(each, context));
    const readable = wanted.map((each) => (each && isReadable(each, context) ? each : null));
    const records = await this.find(readable, graph, context, info);
    // An error in the place of a record makes that one null, and none of the others.
    return records.map((record, index) => {
      if (index === refused) return new AppError('PRIVILEGE_NOT_FOUND');
      return wanted[index] ? record : notAnId(`ids[${index}]`, ids[index]!);
    });
  }

  /** The records in their places, and null in the place of each that there is not. */
  private async find(
    wanted: readonly (NamedRecord | null)[],
    graph: EntityGraph,
    { access, receivedAt }: RequestContext,
    info: GraphQLResolveInfo,
  ): Promise<(object | null)[]> {
    const { organization } = await access.authorizeMember();
    const names = wanted.flatMap((each) => (each?.kind === SAVED_REPORT ? each.id : []));
    const reports = names.length > 0 ? await this.savedReports.list(organization.id, { names }) : [];
    const findDates = datesAt(organization, receivedAt);
    const reportOf = new Map(reports.map((report) => [report.name, toSavedReport(report, findDates)]));
    return Promise.all(
      wanted.map(async (each) => {
        if (each?.kind === SAVED_REPORT) return reportOf.get(each.id) ?? null;
        return each && findEntity(graph, each, info);
      }),
    );
  }
}

function parseRecordId(id: string): NamedRecord | undefined {
  const named = fromGlobalId(id);
  return named?.kind === SAVED_REPORT ? { kind: SAVED_REPORT, id: named.id } : parseEntityId(id);
}

const notAnId = (name: string, id: string): InputError => new InputError(`${name} is not the id of a record: ${JSON.stringify(id)}`);

const isReadable = ({ kind }: NamedRecord, { access }: RequestContext): boolean =>
  (kind !== 'donor' && kind !== SAVED_REPORT) || access.openDonorData();

function findEntity(graph: EntityGraph, { kind, id }: NamedEntity, info: GraphQLResolveInfo) {
  const type = info.schema.getType(typeNameOf(kind));
  if (!isObjectType(type)) throw new Error(`${kind} has no type of this name`);
  return graph.find(kind, id, lookAhead(info, type));
}
