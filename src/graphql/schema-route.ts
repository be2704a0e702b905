import { createHash } from 'node:crypto';
import type { Router } from 'express';
import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import { SCHEMA_FILE } from '../domain/access/provision-bounds';
import type { DoorKit } from '../http/door-kit';
import { findKnownTag } from '../http/entity-tag';
import { createRequestRouter } from '../http/request-router';
import { authorizeIntrospection, type Introspection } from './documents/introspection-access';

/** The schema as text, in alphabetical order. */
export const printSorted = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/** The door at /schema.graphql: the schema as a file, for the callers who may introspect it. */
export function createSchemaRoute(schema: GraphQLSchema, introspection: Introspection, kit: DoorKit): Router {
  let file: { readonly text: string; readonly tag: string } | undefined;
  const print = () => {
    const text = printSorted(schema);
    return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  };
  return createRequestRouter('graphql', kit, {
    [`/${SCHEMA_FILE}`]: async ({ context, request, response }) => {
      context.access.caller.openReport(SCHEMA_FILE);
      await authorizeIntrospection(context.access, introspection);
      file ??= print();
      response.set('ETag', file.tag);
      if (findKnownTag(request, file.tag) !== undefined) response.status(304).end();
      else response.type('text/plain; charset=utf-8').send(file.text);
    },
  });
}
