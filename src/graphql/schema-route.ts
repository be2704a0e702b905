import { createHash } from 'node:crypto';
import type { Router } from 'express';
import { lexicographicSortSchema, printSchema, type GraphQLSchema } from 'graphql';
import type { DoorKit } from '../http/door-kit';
import { createRequestRouter } from '../http/request-router';
import { authorizeIntrospection, type Introspection } from './introspection-access';

/** The schema as text, in alphabetical order. */
export const printSorted = (schema: GraphQLSchema): string => `${printSchema(lexicographicSortSchema(schema))}\n`;

/** The door at /schema.graphql: the schema as a file, for the callers who may introspect it. */
export function createSchemaRoute(schema: GraphQLSchema, introspection: Introspection, kit: DoorKit): Router {
  let file: { readonly text: string; readonly tag: string } | undefined;
  const print = () => {
    const text = printSorted(schema);
    return { text, tag: `"${createHash('sha256').update(text).digest('base64url')}"` };
  };
  return createRequestRouter(kit, {
    '/schema.graphql': async ({ access }, request, response) => {
      await authorizeIntrospection(access, introspection);
      file ??= print();
      response.set('ETag', file.tag);
      // Express's own `fresh` minds the Cache-Control: no-cache that browsers and Node send along with a tag that a program gives them.
      const offered = (request.get('If-None-Match') ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
      if (offered.includes(file.tag) || offered.includes('*')) response.status(304).end();
      else response.type('text/plain; charset=utf-8').send(file.text);
    },
  });
}
