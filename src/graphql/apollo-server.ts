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
  /** Who may introspect: members of an organization, everyone, nobody. */
  readonly introspection: 'session' | 'on' | 'off';
  /** All that apps may send, where it is bounded so. */
  readonly trustedDocuments?: TrustedDocuments | undefined;
  /** Told about failures that callers see masked. */
  readonly onInternalError: (error: AppError, context: GraphqlContext) => void;
}

/** What GraphQL and Apollo say of a request that is wrong in itself. Any other code is ours or is masked. */
const REQUEST_ERRORS: ReadonlySet<unknown> = new Set(['BAD_REQUEST', ...Object.keys(requestFaultTable)]);
/** The errors of a request that is well formed, and of which GraphQL says no. */
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
      // Its default wraps every field, which makes every list slow.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      answerPlugin(options),
    ],
  });
}

/** The data of answers that are written with rests. */
const longAnswers = new WeakSet<object>();

const stringifyResult: NonNullable<ApolloServerOptionsWithSchema<GraphqlContext>['stringifyResult']> = async (answer) => {
  const { data, ...others } = answer;
  if (!data || !longAnswers.has(data)) return `${JSON.stringify(answer)}\n`;
  const before = JSON.stringify(others).slice(0, -1);
  return `${before}${before === '{' ? '' : ','}"data":${await loopTurns.stringify(data)}}\n`;
};

/** What a caller sees of an error, and nothing else: code, text, and where in the operation. */
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
          if (data) for (const { responseKey, token } of contextValue.rowFields ?? []) data[responseKey] = token;
          return Promise.resolve();
        },
      }),
  };
}

/** What was thrown, without the GraphQLErrors that graphql-js and Apollo put around it. */
export function toCause(error: unknown): unknown {
  if (!(error instanceof GraphQLError) || REQUEST_ERRORS.has(error.extensions.code)) return error;
  if (error.originalError) return toCause(error.originalError);
  const { code, http } = error.extensions as { readonly code?: string; readonly http?: { readonly status?: number } };
  // Of some requests Apollo says by the status alone that they are wrong.
  if (code === undefined && http?.status === BAD_REQUEST_STATUS) return new AppError('BAD_REQUEST');
  // And graphql-js has no code for an argument that a variable makes null.
  return code === undefined && NULL_ARGUMENT.test(error.message) ? new InputError(error.message) : error;
}

/** Who names application/json and nothing newer takes any status but 200 for a failure of the transport (GraphQL over HTTP, section 6.4.1). */
const asksForPlainJson = (accept = ''): boolean => /\bapplication\/json\b/i.test(accept) && !accept.includes('graphql-response+json');

/** graphql-js would let them through to their execution, and fail there. */
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
