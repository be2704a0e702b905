import type { Router } from 'express';
import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { SCHEMA_FILE } from '../domain/access/provision-bounds';
import type { DoorKit } from '../http/door-kit';
import { createRequestRouter } from '../http/request-router';
import { TaggedText } from '../http/tagged-text';
import { authorizeIntrospection, type Introspection } from './documents/introspection-access';

/** The schema as text, in alphabetical order. */
export const printSorted = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/** The door at /schema.graphql: the schema as a file, for the callers who may introspect it. */
export function createSchemaRoute(schema: GraphQLSchema, introspection: Introspection, kit: DoorKit): Router {
  let file: TaggedText | undefined;
  return createRequestRouter('graphql', kit, {
    [`/${SCHEMA_FILE}`]: async ({ context, request, response }) => {
      context.access.caller.openReport(SCHEMA_FILE);
      await authorizeIntrospection(context.access, introspection);
      file ??= new TaggedText(printSorted(schema), 'text/plain; charset=utf-8');
      file.send(request, response);
    },
  });
}
