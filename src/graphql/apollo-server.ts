import { ApolloServer, type ApolloServerOptionsWithSchema, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import {
  GraphQLError,
  Kind,
  visit,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type ValidationContext,
} from 'graphql';
import { AppError, describeError, InputError, requestFaultTable, toAppError } from '../errors';
import type { CheckedDocuments } from './checked-documents';
import { loopTurns } from './loop-turns';
import { assertCost, findCost } from './operation-cost';
import { limitOperations, operationLimits } from './operation-limits';
import type { GraphqlContext } from './row-field';
import { createDocumentCache, type TrustedDocuments } from './trusted-documents';

export interface ApolloServerOptions {
  readonly documents: CheckedDocuments;
  /** The callers who may introspect the schema: `session` members of an organization, `on` everyone, `off` nobody. */
  readonly introspection: 'session' | 'on' | 'off';
  /** The only documents that WEB and MOBILE provisions may send; undefined when they may send any. */
  readonly trustedDocuments?: TrustedDocuments | undefined;
  /** Logs a failure whose cause the caller does not see. */
  readonly onInternalError: (error: AppError, context: GraphqlContext) => void;
}

/** The codes that GraphQL and Apollo give to a faulty request. Any other code is the gateway's own or is masked. */
const REQUEST_ERRORS: ReadonlySet<unknown> = new Set(['BAD_REQUEST', ...Object.keys(requestFaultTable)]);
/** The codes of a well-formed request whose operation GraphQL refuses. */
const DOCUMENT_ERRORS: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'OPERATION_RESOLUTION_FAILURE',
]);
const MAX_MESSAGE_LENGTH = 300;
const BAD_REQUEST_STATUS = 400;
const NULL_ARGUMENT = /^Argument "\w+" of non-null type "[\w![\]]+" must not be null\.$/;

export function createApolloServer(schema: GraphQLSchema, options: ApolloServerOptions): ApolloServer<GraphqlContext> {
  return new ApolloServer<GraphqlContext>({
    schema,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    hideSchemaDetailsFromClientErrors: true,
    stopOnTerminationSignals: false,
    persistedQueries: { cache: createDocumentCache(options.trustedDocuments) },
    csrfPrevention: { requestHeaders: ['provision'] },
    documentStore: options.documents,
    parseOptions: { maxTokens: operationLimits.maxTokens },
    maxRecursiveSelections: operationLimits.maxRecursiveSelections,
    validationOptions: { maxErrors: operationLimits.maxValidationErrors },
    validationRules: [limitOperations, refuseMissingOperationTypes],
    formatError: (formatted, error) => formatError(formatted, toCause(error)),
    stringifyResult,
    plugins: [
      // Apollo's cache control wraps every field by default, which slows down every list.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      answerPlugin(options),
    ],
  });
}

/** The data of answers that are written with pauses. */
const longAnswers = new WeakSet<object>();

const stringifyResult: NonNullable<ApolloServerOptionsWithSchema<GraphqlContext>['stringifyResult']> = async (answer) => {
  const { data, ...others } = answer;
  if (!data || !longAnswers.has(data)) return `${JSON.stringify(answer)}\n`;
  const before = JSON.stringify(others).slice(0, -1);
  return `${before}${before === '{' ? '' : ','}"data":${await loopTurns.stringify(data)}}\n`;
};

/** The whole of an error that a caller sees: its code, its text, and its place in the operation. */
export function formatError({ message, locations, path, extensions }: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const place = { ...(locations && { locations }), ...(path && { path }) };
  if (!(error instanceof AppError) && REQUEST_ERRORS.has(extensions?.code)) {
    const { code, cost, limit, field } = extensions ?? {};
    const size = cost === undefined ? {} : { cost, limit, field };
    return { message: message.slice(0, MAX_MESSAGE_LENGTH), ...place, extensions: { code, ...size } };
  }
  if (error instanceof InputError) {
    return { message: error.fault.slice(0, MAX_MESSAGE_LENGTH), ...place, extensions: { code: 'BAD_USER_INPUT' } };
  }
  const appError = toAppError(error);
  return { message: describeError(appError), ...place, extensions: { code: appError.code } };
}

function answerPlugin({ introspection, trustedDocuments, onInternalError }: ApolloServerOptions): ApolloServerPlugin<GraphqlContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didResolveOperation: async ({ schema, document, operation, request, contextValue, response }) => {
          if (trustedDocuments && !trustedDocuments.includes(document)) {
            const { isServer } = await contextValue.access.authorizeProvision();
            if (!isServer) throw new AppError('UNTRUSTED_DOCUMENT');
          }
          if (introspection !== 'on' && asksForSchema(document)) {
            if (introspection === 'off') throw new AppError('INTROSPECTION_DISABLED');
            await contextValue.access.authorizeMember();
          }
          const found = findCost({ schema, document, operation, variables: request.variables ?? {} });
          if (found) {
            response.http.headers.set('x-graphql-cost', String(found.cost));
            assertCost(found);
            contextValue.rests = found.cost > operationLimits.restCost;
          }
        },
        didEncounterErrors: ({ errors, contextValue, response }) => {
          for (const error of errors) {
            const cause = toCause(error);
            if (!(cause instanceof AppError) && REQUEST_ERRORS.has(error.extensions.code)) continue;
            const appError = toAppError(cause);
            if (appError.cause !== undefined) onInternalError(appError, contextValue);
            response.http.status = appError.graphqlStatus ?? response.http.status ?? 200;
            if (appError.retryAfterSeconds !== undefined) response.http.headers.set('retry-after', String(appError.retryAfterSeconds));
          }
          return Promise.resolve();
        },
        willSendResponse: ({ request, response, errors = [], contextValue }) => {
          const isAnswered = errors.length > 0 && errors.every(({ extensions }) => DOCUMENT_ERRORS.has(extensions.code));
          if (isAnswered && asksForPlainJson(request.http?.headers.get('accept'))) response.http.status = 200;
          const data = response.body.kind === 'single' ? response.body.singleResult.data : undefined;
          if (data && contextValue.rests) longAnswers.add(data);
          if (data) contextValue.insertions?.mark(data);
          return Promise.resolve();
        },
      }),
  };
}

/** The error that was thrown first, without the GraphQLErrors that graphql-js and Apollo wrap around it. */
export function toCause(error: unknown): unknown {
  if (!(error instanceof GraphQLError) || REQUEST_ERRORS.has(error.extensions.code)) return error;
  if (error.originalError) return toCause(error.originalError);
  const { code, http } = error.extensions as { readonly code?: string; readonly http?: { readonly status?: number } };
  // Apollo marks some faulty requests by their status alone, without a code.
  if (code === undefined && http?.status === BAD_REQUEST_STATUS) return new AppError('BAD_REQUEST');
  // graphql-js gives no code to an argument that a variable makes null.
  return code === undefined && NULL_ARGUMENT.test(error.message) ? new InputError(error.message) : error;
}

/**
 * True for a client that accepts application/json and not the newer media type. It takes any status but 200 for a failure of the transport
 * (GraphQL over HTTP, section 6.4.1).
 */
const asksForPlainJson = (accept = ''): boolean => /\bapplication\/json\b/i.test(accept) && !accept.includes('graphql-response+json');

/** Refuses operation types that the schema lacks. graphql-js would validate them and fail only when it executes them. */
function refuseMissingOperationTypes(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return;
      context.reportError(new GraphQLError(`There are no ${node.operation}s here`, { nodes: node }));
    },
  };
}

function asksForSchema(document: DocumentNode): boolean {
  let asks = false;
  visit(document, {
    [Kind.FIELD]: ({ name }) => {
      if (name.value === '__schema' || name.value === '__type') asks = true;
    },
  });
  return asks;
}
