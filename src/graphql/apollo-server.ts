import { ApolloServer, type ApolloServerOptionsWithSchema, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  GraphQLError,
  Kind,
  OperationTypeNode,
  visit,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  type ValidationContext,
} from 'graphql';
import type { BudgetService } from '../domain/access/budget-service';
import { AppError, toAppError } from '../errors';
import { limitOperations, operationLimits } from '../resolvers/request/operation-limits';
import type { CheckedDocuments } from './documents/checked-documents';
import { formatError, isRequestError, toCause, withoutSuggestion } from './answers/error-format';
import { findArgument, findVariableFaults, type VariablePath } from './answers/error-place';
import { authorizeIntrospection, type Introspection } from './documents/introspection-access';
import { loopTurns } from './answers/loop-turns';
import { oncePerDocument } from './documents/once-per-document';
import { assertCost, findCost } from './documents/operation-cost';
import { COST_HEADER, spendBudget, toCostExtension } from './answers/operation-budget';
import type { GraphqlContext } from './answers/row-field';
import { createDocumentCache, type TrustedDocuments } from './documents/trusted-documents';

export interface ApolloServerOptions {
  readonly documents: CheckedDocuments;
  readonly introspection: Introspection;
  /** The only documents that WEB and MOBILE provisions may send; undefined when they may send any. */
  readonly trustedDocuments?: TrustedDocuments | undefined;
  readonly budgets: BudgetService;
  /** Logs a failure whose cause the caller does not see. */
  readonly onInternalError: (error: AppError, context: GraphqlContext) => void;
}

export function createApolloServer(schema: GraphQLSchema, options: ApolloServerOptions): ApolloServer<GraphqlContext> {
  return new ApolloServer<GraphqlContext>({
    schema,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    // Suggestions are taken out of the answers to strangers below.
    hideSchemaDetailsFromClientErrors: false,
    stopOnTerminationSignals: false,
    persistedQueries: { cache: createDocumentCache(options.trustedDocuments) },
    csrfPrevention: { requestHeaders: ['provision'] },
    documentStore: options.documents,
    parseOptions: { maxTokens: operationLimits.maxTokens },
    validationOptions: { maxErrors: operationLimits.maxValidationErrors },
    validationRules: [limitOperations, refuseMissingOperationTypes],
    formatError: (formatted, error) => formatError(formatted, toCause(error)),
    stringifyResult,
    plugins: [
      // Apollo's cache control wraps every field by default, which slows down every list.
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      // Apollo would send operations to its own servers where the environment has a key of theirs. The bundle lacks these plugins.
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
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

function answerPlugin({
  introspection,
  trustedDocuments,
  budgets,
  onInternalError,
}: ApolloServerOptions): ApolloServerPlugin<GraphqlContext> {
  return {
    requestDidStart: () =>
      Promise.resolve({
        didResolveOperation: async ({ schema, document, operation, queryHash, request, contextValue, response }) => {
          const isTrusted = trustedDocuments?.includes(document) ?? false;
          if (trustedDocuments && !isTrusted) {
            const { isServer } = await contextValue.access.authorizeProvision();
            if (!isServer) throw new AppError('UNTRUSTED_DOCUMENT');
          }
          if (asksForSchema(document)) await authorizeIntrospection(contextValue.access, introspection);
          const variables = request.variables ?? {};
          if (operation) {
            contextValue.outcome.asked = {
              name: operation.name?.value ?? '',
              hash: queryHash,
              isTrusted,
              schema,
              document,
              operation,
              variables,
            };
            contextValue.variableFaults = findVariableFaults(schema, operation, variables);
          }
          const found = findCost({ schema, document, operation, variables });
          if (found) {
            response.http.headers.set(COST_HEADER, String(found.cost));
            contextValue.outcome.cost = found;
            assertCost(found);
            const isMutation = operation?.operation === OperationTypeNode.MUTATION;
            await spendBudget(contextValue, { ...found, isMutation }, budgets, response.http.headers);
            contextValue.isLong = found.cost > operationLimits.longCost;
          }
        },
        didEncounterErrors: ({ errors, document, operation, contextValue, response }) => {
          const variablePaths = [...(contextValue.variableFaults ?? [])];
          for (const error of errors) {
            const cause = toCause(error);
            if (isRequestError(cause, error.extensions.code)) {
              addPlace(error, document, variablePaths);
              continue;
            }
            const appError = toAppError(cause);
            if (appError.code === 'PRIVILEGE_NOT_FOUND') contextValue.outcome.refusal ??= appError;
            // An answer that is made again from the primary has no failure to look into. Metrics tell of the replica.
            if (appError.cause !== undefined && !contextValue.books.haveFailed) onInternalError(appError, contextValue);
            if (operation?.operation === OperationTypeNode.MUTATION) addInput(error, appError);
            response.http.status = appError.graphqlStatus ?? response.http.status ?? 200;
            if (appError.retryAfterSeconds !== undefined) response.http.headers.set('retry-after', String(appError.retryAfterSeconds));
          }
          return Promise.resolve();
        },
        willSendResponse: async ({ request, response, errors = [], contextValue }) => {
          if (response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          // Suggestions tell names of the schema, so they are for those who may read it. A caller who cannot be checked gets none.
          const maySuggest = introspection !== 'off' && (errors.length === 0 || (await contextValue.access.isMember().catch(() => false)));
          if (singleResult.errors && !maySuggest) singleResult.errors = singleResult.errors.map(withoutSuggestion);
          contextValue.outcome.codes = singleResult.errors?.map(({ extensions }) => extensions?.code) ?? [];
          const { cost } = contextValue.outcome;
          if (cost && request.http?.headers.has(COST_HEADER)) {
            singleResult.extensions = { ...singleResult.extensions, ...toCostExtension(cost) };
          }
          const { data } = singleResult;
          contextValue.outcome.data = data;
          if (data && contextValue.isLong) longAnswers.add(data);
          if (data) contextValue.insertions?.mark(data);
        },
      }),
  };
}

/** Tells a program where the fault is: in an argument of the document, or in the variables. */
function addPlace(error: GraphQLError, document: DocumentNode | undefined, variablePaths: VariablePath[]): void {
  const { code } = error.extensions;
  if (code === 'BAD_USER_INPUT') {
    const path = variablePaths.shift();
    if (path) error.extensions.path = path;
  } else if (code === 'GRAPHQL_VALIDATION_FAILED' && document) {
    const argument = findArgument(document, error.nodes?.[0]);
    if (argument !== undefined) error.extensions.argument = argument;
  }
}

/** Every mutation takes one argument, `input`. The rules name a value at fault by its field alone, and a program is told the way to it. */
function addInput({ path, extensions }: GraphQLError, { argument }: AppError): void {
  if (path?.length === 1 && argument !== undefined) extensions.argument = `input.${argument}`;
}

/** Refuses operation types that the schema lacks. graphql-js would validate them and fail only when it executes them. */
function refuseMissingOperationTypes(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return;
      context.reportError(new GraphQLError(`There are no ${node.operation}s here`, { nodes: node }));
    },
  };
}

const asksForSchema = oncePerDocument((document) => {
  let asks = false;
  visit(document, {
    [Kind.FIELD]: ({ name }) => {
      if (name.value === '__schema' || name.value === '__type') asks = true;
    },
  });
  return asks;
});
