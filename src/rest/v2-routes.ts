import type { Request, Router } from 'express';
import type { ReadRange } from '../domain/audit/audit-service';
import { toReportPeriod } from '../domain/reports/deposit-detail-service';
import { AppError } from '../errors';
import { v2Layouts } from '../formats/v2-line';
import { setDataVersion, type DoorKit } from '../http/door-kit';
import { EntityTag } from '../http/entity-tag';
import { REST_FORMAT } from '../http/error-handler';
import { createRequestRouter, type RequestHandler } from '../http/request-router';
import { sendRows, toContentCoding } from '../http/row-sender';
import type { AuthenticationResolver } from '../resolvers/access/authentication-resolver';
import type { DepositDetailResolver } from '../resolvers/reports/deposit-detail-resolver';
import { REPORT_PRIVILEGE } from '../values/privileges';
import { createDocumentRoute } from './document-route';
import { v2Paths, type V2Path } from './v2-operations';

interface V2Resolvers {
  readonly authentication: AuthenticationResolver;
  readonly depositDetails: DepositDetailResolver;
}

/**
 * The v2 door (contract section 4). Each route parses, calls a resolver and formats. Errors have the contract's body (section 2.3).
 * `document` describes the paths.
 */
export function createV2Routes({ authentication, depositDetails }: V2Resolvers, kit: DoorKit, document: object): Router {
  const handlers: Readonly<Record<V2Path, RequestHandler>> = {
    authenticated_test_system: async ({ context, request, response }) => {
      const data = await authentication.authenticatedTestSystem(context);
      assertDecodable(request);
      setDataVersion(response, context);
      response.json({ data });
    },
    authenticated_test_session: async ({ context, request, response }) => {
      const data = await authentication.authenticatedTestSession(context);
      assertDecodable(request);
      setDataVersion(response, context);
      response.json({ data });
    },
    [REPORT_PRIVILEGE]: async (attempt) => {
      const { context, request, response } = attempt;
      // An address that cannot be decoded is refused where its parameters are read, which comes after access.
      await context.access.authorizeReport();
      const query = parseReportQuery(request.query);
      const rows = await depositDetails.depositDetails(query, context);
      const { head, template, tail } = v2Layouts.json;
      const tag = new EntityTag(rows, v2Layouts.json);
      if (tag.answersNotModified(request, response, context)) return;
      const operation = { door: 'v2', name: REPORT_PRIVILEGE, hash: null } as const;
      await kit.audit.accompany(attempt, { operation, range: () => toRange(query), lines: () => rows.rowCount?.() }, (reading) =>
        sendRows(response, [head, rows.bytes(template), tail], {
          setHeaders: () => {
            setDataVersion(response, context);
            tag.set(response, context);
            response.type('json');
          },
          ready: reading?.written,
          readerPace: kit.readerPace,
          signal: context.books.signal,
          coding: toContentCoding(request),
        }),
      );
    },
  };
  const router = createRequestRouter('v2', kit, Object.fromEntries(v2Paths.map((path) => [`/${path}`, handlers[path]])));
  router.use(createDocumentRoute(document));
  router.use(kit.createErrorHandler({ ...REST_FORMAT, toCause: toContractError }));
  return router;
}

/** Throws INVALID_PARAMETERS for an address that cannot be decoded: a parameter of it may be any, and the contract knows no reason to guess. */
const assertDecodable = ({ query }: Request): unknown => query;

/** The contract knows neither faults nor a limit of guesses (section 7), so integrators get the texts that they know. */
function toContractError(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  if (error.code === 'TOO_MANY_PROVISIONS') return new AppError('INVALID_PROVISION');
  if (error.fault === undefined) return error;
  const { code, retryAfterSeconds } = error;
  return new AppError(code, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}

/** The range of parameters that were checked. */
const toRange = (query: ReturnType<typeof parseReportQuery>): ReadRange => ({ ...toReportPeriod(query), conditions: [] });

/** Reads the parameters unchecked. Any `include_pending` but `true`, `false` or none becomes undefined, which the resolver refuses. */
function parseReportQuery({ start_date, end_date, include_pending }: Request['query']) {
  const flags = new Map<unknown, boolean>([
    ['true', true],
    ['false', false],
    [undefined, false],
  ]);
  return { startDate: start_date, endDate: end_date, includePending: flags.get(include_pending) };
}
