import { STATUS_CODES } from 'node:http';
import { LEAST_VERSION } from '../domain/books/least-version';
import { errorTable, type ErrorCode } from '../errors';
import {
  createExamples,
  createSchemas,
  examplesOf,
  headers,
  headersOf,
  parameters,
  parametersOf,
  schemaOf,
  securitySchemes,
  type DescribeField,
} from './v2-components';
import { COMMON_CODES, REQUEST_CODES, ROUTE_CODES, v2Operations, v2Paths, type V2Path } from './v2-operations';

const ABOUT = [
  'Three paths over the deposits of a non-profit. Each request names its application by the header `Provision`.',
  'An error has one body, whatever its status. The examples of each status are all texts that it may have; the text of a bad request may go on to name the fault.',
  'HEAD is answered as GET, without the body. Long answers are compressed where `Accept-Encoding` asks for it. Caches may keep no answer.',
].join('\n\n');

const SYSTEM = { provision: [] };
const SESSION = ['sessionCookie', 'plainSessionCookie', 'sessionToken'].map((session) => ({ ...SYSTEM, [session]: [] }));
const SECURITY = { system: [SYSTEM], session: SESSION, either: [SYSTEM, ...SESSION] };

const ALWAYS = ['X-Request-Id'];
/** The headers of an answer to a valid provision. */
const ON_PROVISION = ['Provision-Expires', 'Deprecation', 'Sunset', 'Link'];
const ON_ANSWERS = [...ALWAYS, 'X-Data-Version', ...ON_PROVISION];

const codesOf = (path: V2Path): readonly ErrorCode[] => [REQUEST_CODES, ROUTE_CODES, COMMON_CODES, v2Operations[path].codes].flat();
const inTableOrder = (codes: readonly ErrorCode[]): ErrorCode[] =>
  (Object.keys(errorTable) as ErrorCode[]).filter((code) => codes.includes(code));

const jsonOf = (schema: string, examples?: object): object => ({
  'application/json': { schema: schemaOf(schema), ...(examples && { examples }) },
});

const errorOf = (codes: readonly ErrorCode[], description: string, names: readonly string[]): object => ({
  ...{ description, headers: headersOf(names), content: jsonOf('ErrorAnswer', examplesOf(codes)) },
});

/** Only a request that can be read and routed has had its provision checked. */
const headersOfErrors = (codes: readonly ErrorCode[]): readonly string[] => [
  ...ALWAYS,
  ...(codes.includes('METHOD_NOT_ALLOWED') ? ['Allow'] : []),
  ...(codes.some((code) => ![...REQUEST_CODES, ...ROUTE_CODES].includes(code)) ? [...ON_PROVISION, 'Retry-After'] : []),
];

function responsesOf(path: V2Path): object {
  const { answer, parameters: own } = v2Operations[path];
  const hasTag = own.includes('If-None-Match');
  const onAnswers = headersOf(hasTag ? [...ON_ANSWERS, 'ETag'] : ON_ANSWERS);
  const codes = inTableOrder(codesOf(path));
  const statuses = [...new Set(codes.map((code) => errorTable[code].status))];
  const errors = statuses.map((status) => {
    const ofStatus = codes.filter((code) => errorTable[code].status === status);
    return [status, errorOf(ofStatus, STATUS_CODES[status] ?? '', headersOfErrors(ofStatus))] as const;
  });
  return {
    200: { description: 'OK', headers: onAnswers, content: jsonOf(answer) },
    ...(hasTag && { 304: { description: 'The copy of the caller is still good.', headers: onAnswers } }),
    ...Object.fromEntries(errors),
  };
}

function pathItemOf(path: V2Path): object {
  const { field: operationId, tag, summary, description, access, parameters: own } = v2Operations[path];
  return {
    get: {
      ...{ operationId, tags: [tag], summary, description, security: SECURITY[access] },
      parameters: parametersOf([...own, LEAST_VERSION]),
      responses: responsesOf(path),
    },
  };
}

/** The OpenAPI 3.1 document of the v2 paths. It tells nothing of a server or a caller, so that everybody may read it. */
export function createV2Document(describe: DescribeField): object {
  const codes = inTableOrder(v2Paths.flatMap(codesOf));
  return {
    openapi: '3.1.0',
    info: { title: 'Deposit Gateway v2', version: '2', description: ABOUT },
    // Relative to the document: the gateway trusts no header of a request with its own address.
    servers: [{ url: '/' }],
    paths: Object.fromEntries(v2Paths.map((path) => [`/api/v2/${path}`, pathItemOf(path)])),
    components: { schemas: createSchemas(describe), examples: createExamples(codes), parameters, headers, securitySchemes },
    tags: [
      { name: 'Credentials', description: 'Check credentials before other paths are called.' },
      { name: 'Report', description: 'The lines of deposits.' },
    ],
  };
}
