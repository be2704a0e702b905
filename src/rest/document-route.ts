import { Router } from 'express';
import { enterDoor } from '../http/request-record';
import { refuseMethod } from '../http/request-router';
import { TaggedText } from '../http/tagged-text';

const PATH = '/openapi.json';

/** Serves the document of the v2 paths to everybody, without a look at credentials or at the database, so also under maintenance. */
export function createDocumentRoute(document: object): Router {
  const text = new TaggedText(JSON.stringify(document), 'json');
  const router = Router({ caseSensitive: true, strict: true });
  router.all(PATH, (request, response, next) => enterDoor('v2', request.baseUrl + PATH)(request, response, next));
  router.get(PATH, (request, response) => {
    // Caches may keep it, and ask by its tag whether it is still the same.
    response.set('Cache-Control', 'no-cache');
    text.send(request, response);
  });
  router.all(PATH, refuseMethod);
  return router;
}
