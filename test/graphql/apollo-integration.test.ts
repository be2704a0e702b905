/** @jest-environment <rootDir>/test/support/apollo-suite-environment.ts */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApolloServer, type ContextThunk } from '@apollo/server';
import { defineIntegrationTestSuite } from '@apollo/server-integration-testsuite';
import { pino } from 'pino';
import { readConfig } from '../../src/config';
import { CheckedDocuments } from '../../src/graphql/documents/checked-documents';
import { createGraphqlRoute } from '../../src/graphql/graphql-route';
import type { GraphqlContext } from '../../src/graphql/answers/row-field';
import { createDoorKit } from '../../src/http/door-kit';
import { createExpressApp } from '../../src/http/express-app';
import { openGateway } from '../support/open-gateway';

const gateway = openGateway();

/** The suite's own server answers behind the gateway's route: its requests get a provision, and its resolvers the suite's context. */
class SuiteServer extends ApolloServer<GraphqlContext> {
  constructor(
    private readonly suite: ApolloServer,
    private readonly suiteContext: ContextThunk,
  ) {
    super({ typeDefs: 'type Query { none: Int }' });
  }

  override executeHTTPGraphQLRequest({
    httpGraphQLRequest,
    context,
  }: Parameters<ApolloServer<GraphqlContext>['executeHTTPGraphQLRequest']>[0]) {
    return this.suite.executeHTTPGraphQLRequest({
      httpGraphQLRequest,
      context: async () => {
        await context();
        return this.suiteContext();
      },
    });
  }
}

async function listen(suite: ApolloServer, context: ContextThunk): Promise<Server> {
  const { webProvision } = gateway.organization;
  const config = readConfig({});
  const log = pino({ level: 'silent' });
  const kit = createDoorKit(config, log, gateway.services);
  const { budgets } = gateway.services;
  const app = createExpressApp(config, log);
  app.use(({ headers }, response, next) => {
    headers.provision = webProvision;
    // The gateway lets nobody store an answer. The suite looks at the header that Apollo sets.
    response.removeHeader('Cache-Control');
    next();
  });
  app.use(
    '/graphql',
    createGraphqlRoute({
      apollo: new SuiteServer(suite, context),
      documents: new CheckedDocuments(),
      kit,
      budgets,
      keptAnswers: undefined,
    }),
  );
  app.use(kit.createErrorHandler());
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

defineIntegrationTestSuite(
  async (config, { context = () => Promise.resolve({}) } = {}) => {
    // In production, Apollo answers no introspection unless it is told to.
    const server = new ApolloServer({ nodeEnv: 'test', ...config });
    await server.start();
    const listening = await listen(server, context);
    const { port } = listening.address() as AddressInfo;
    const extraCleanup = async (): Promise<void> => {
      listening.closeAllConnections();
      listening.close();
      await once(listening, 'close');
    };
    return { server, url: `http://127.0.0.1:${port}/graphql`, extraCleanup };
  },
  { noIncrementalDelivery: true },
);
