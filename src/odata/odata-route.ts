import { Router, type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { NO_RANGE } from '../domain/audit/audit-service';
import { AppError, describeError, InputError, type ErrorCode } from '../errors';
import { setDataVersion, setServerTiming, type DoorKit } from '../http/door-kit';
import type { ErrorFormat } from '../http/error-handler';
import { hostOf } from '../http/request-credentials';
import { createRequestRouter, type Attempt } from '../http/request-router';
import { toContentCoding } from '../http/row-sender';
import type { FileResolver } from '../resolvers/reports/file-resolver';
import { ALL_TIME } from '../values/dates';
import { CONNECTIONS, setOfReport } from '../values/feed-names';
import { createConnectionFiles } from './connection-files';
import { notImplemented } from './odata-filter';
import { fixedSets, hasEntities, parseSetName, toMetadata, type EntitySet } from './odata-model';
import { assertMetadataFormat, parseListForm, toMediaType } from './odata-options';
import type { ReadableReports } from './odata-reports';
import { answerSet, type SetRequest } from './odata-sets';

const PATH = '/odata';
const METADATA = '$metadata';
const COUNT = '$count';
/** Resources of OData at the root of a service that this one has not (URL Conventions 4.01, section 4). */
const OTHER_RESOURCES = ['$batch', '$all', '$entity'];
const SUPPORTED = `the sets, /${COUNT} of a set and ${METADATA}`;
const VERSION = '4.0';

/** The statuses of errors at this door, where they are others than those of v2. */
const STATUSES: { readonly [Code in ErrorCode]?: number } = {
  INVALID_PARAMETERS: 400,
  START_DATE_AFTER_END_DATE: 400,
  PROVISION_HEADER_MISSING: 401,
  INVALID_PROVISION: 401,
  NOT_LOGGED_IN: 401,
  INCORRECT_HOST: 403,
  PRIVILEGE_NOT_FOUND: 403,
  UNDER_MAINTENANCE: 503,
  NO_DATA_SOURCE_CONNECTION: 503,
};

/** The error body of OData's JSON (section 21.1). */
const ERROR_FORMAT: ErrorFormat = {
  toCause: (error) =>
    error instanceof AppError && error.code === 'PROVISION_HEADER_MISSING'
      ? new AppError(error.code, { fault: 'send it as the password of Basic authentication' })
      : error,
  toAnswer: (appError) => ({
    status: STATUSES[appError.code] ?? appError.status,
    body: { error: { code: appError.code, message: describeError(appError) } },
  }),
};

/** The door at /odata: the lines, summaries and saved reports as feeds of OData 4.0, for Excel and Power BI. It reads alone. */
export function createOdataRoute(files: FileResolver, reports: ReadableReports, kit: DoorKit): Router {
  const service = (attempt: Attempt): Promise<void> => answerService(attempt, reports, kit);
  const set = (attempt: Attempt): Promise<void> =>
    attempt.request.params.set === METADATA ? answerMetadata(attempt, reports, kit) : answer(attempt, false, files, kit);
  const part = (attempt: Attempt): Promise<void> => answer(attempt, attempt.request.params.part === COUNT, files, kit);
  const router = Router({ caseSensitive: true, strict: true });
  router.use(PATH, setVersion);
  router.use(createConnectionFiles(CONNECTIONS));
  const resources = { [PATH]: service, [`${PATH}/:set`]: set, [`${PATH}/:set/:part`]: part };
  // Clients write a slash behind an address too, which names the same resource.
  const slashed = Object.fromEntries(Object.entries(resources).map(([path, handle]) => [`${path}/`, handle]));
  router.use(createRequestRouter('odata', kit, { ...resources, ...slashed }));
  router.use(PATH, () => {
    throw new AppError('NOT_FOUND');
  });
  router.use(PATH, challenge, kit.createErrorHandler(ERROR_FORMAT));
  return router;
}

/** Names the version of the protocol in every answer, and refuses a client that knows earlier ones alone. */
const setVersion: RequestHandler = (request, response, next) => {
  response.set('OData-Version', VERSION);
  // No cache keeps an answer. One that did would have to tell callers and forms apart.
  response.vary('Authorization, Accept');
  const most = request.get('OData-MaxVersion');
  if (most !== undefined && !(Number.parseFloat(most) >= Number(VERSION)))
    throw new InputError(`OData-MaxVersion: this service is of version ${VERSION}`);
  next();
};

/** Asks for the password where none was sent, or one that opens nothing (RFC 9110 section 11.6.1). */
const challenge: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof AppError && STATUSES[error.code] === 401 && !response.headersSent)
    response.set('WWW-Authenticate', 'Basic realm="deposit-gateway", charset="UTF-8"');
  next(error);
};

/** The address of the service, by the host that the caller has named or the trusted proxy has passed on. */
const toRoot = (request: Request): string => `${request.protocol}://${hostOf(request)}${PATH}/`;

/** The sets that a caller may read. */
async function findSets(reports: ReadableReports, { context }: Attempt): Promise<EntitySet[]> {
  const { access } = context;
  const readable = await reports.list(context);
  const { mayReadDonors } = await access.authorizeMember();
  const isBound = await access.caller.isBoundToReports();
  const saved = readable.filter(({ query }) => hasEntities(query)).map(({ name, query }) => ({ name: setOfReport(name), query }));
  const lines = { ...ALL_TIME, includePending: true, filter: {} };
  return [...(isBound ? [] : fixedSets(mayReadDonors, lines)), ...saved];
}

async function answerService(attempt: Attempt, reports: ReadableReports, kit: DoorKit): Promise<void> {
  const sets = await findSets(reports, attempt);
  const form = parseListForm(attempt.request);
  const body = {
    ...(form.hasContext && { '@odata.context': toRoot(attempt.request) + METADATA }),
    // Without a context no address says from where a short one leads.
    value: sets.map(({ name }) => ({ name, kind: 'EntitySet', url: form.hasContext ? name : toRoot(attempt.request) + name })),
  };
  await sendDocument(attempt, kit, { name: 'odata', type: toMediaType(form), text: JSON.stringify(body) });
}

async function answerMetadata(attempt: Attempt, reports: ReadableReports, kit: DoorKit): Promise<void> {
  const sets = await findSets(reports, attempt);
  assertMetadataFormat(attempt.request);
  await sendDocument(attempt, kit, { name: `odata/${METADATA}`, type: 'application/xml; charset=utf-8', text: toMetadata(sets) });
}

/** A document may tell the names of saved reports, so that it is a reading for the audit too. */
async function sendDocument(
  attempt: Attempt,
  kit: DoorKit,
  { name, type, text }: { readonly name: string; readonly type: string; readonly text: string },
): Promise<void> {
  const { context, response } = attempt;
  const reading = { operation: { door: 'odata', name, hash: null }, range: () => NO_RANGE, isAlwaysNoted: true } as const;
  await kit.audit.accompany(attempt, reading, async (open) => {
    await open?.written;
    setDataVersion(response, context);
    setServerTiming(response);
    response.set('Content-Type', type);
    response.end(text);
  });
}

async function answer(attempt: Attempt, isCount: boolean, files: FileResolver, kit: DoorKit): Promise<void> {
  const { context, request } = attempt;
  const { set: given = '', part } = request.params as Readonly<Record<string, string | undefined>>;
  const name = parseSetName(given);
  if (name?.kind === 'report') context.access.caller.openReport(name.report);
  const member = await context.access.authorizeMember();
  if (OTHER_RESOURCES.includes(given) || given.includes('(')) throw notImplemented(`there is no ${given}`, SUPPORTED);
  if (!name) throw new AppError('NOT_FOUND');
  if (part !== undefined && !isCount) throw notImplemented(`there is no ${part} of a set`, SUPPORTED);
  // A caller without the privilege has no session that could have it, as the v2 report supposes.
  if (name.kind === 'lines' && !member.mayReadDonors) throw new AppError('PRIVILEGE_NOT_FOUND');
  const asked: SetRequest = { set: given, name, isCount, root: toRoot(request), coding: toContentCoding(request) };
  await answerSet(attempt, asked, files, kit).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'NOT_LOGGED_IN' ? new AppError('PRIVILEGE_NOT_FOUND') : error;
  });
}
