import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Router } from 'express';
import expressStaticGzip from 'express-static-gzip';
import { AppError } from '../errors';
import { enterDoor } from '../http/request-record';
import { packageFile } from '../package-files';

/** Vite's output directory. */
const WEB_DIRECTORY = packageFile('dist/playground-web');
const FILE_NAME = /^\/[\w.-]+$/;

const readPage = (name: string): string => readFileSync(join(WEB_DIRECTORY, name), 'utf8');

/**
 * Serves the page at /playground, the page at /docs that shows the document of the v2 paths, and the files of both, and redirects `/` to the
 * first. Its Provision field starts with `provision`.
 */
export function createPlaygroundRoutes(provision: string): Router {
  const template = readPage('index.html');
  const viewer = readPage('docs/index.html');
  const page = template.replace('__GATEWAY_CONFIG__', () => escapeHtml(JSON.stringify({ provision })));
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', enterDoor('page', '/'), (_request, response) => response.redirect('/playground'));
  router.get(['/playground', '/playground/'], enterDoor('page', '/playground'), (_request, response) => {
    response.type('html').send(page);
  });
  router.get(['/docs', '/docs/'], enterDoor('page', '/docs'), (_request, response) => {
    response.type('html').send(viewer);
  });
  // Browsers may keep these files forever: their names hold a hash of their content, and they hold nobody's data.
  const setHeaders = (response: ServerResponse): void => {
    response.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    // The library has replaced the header of the answers to other origins.
    response.appendHeader('Vary', 'Origin');
  };
  // The build has compressed each file once for all.
  const serveFile = expressStaticGzip(join(WEB_DIRECTORY, 'assets'), {
    index: false,
    enableBrotli: true,
    orderPreference: ['br', 'gzip'],
    serveStatic: { redirect: false, cacheControl: false, acceptRanges: false, setHeaders },
  });
  router.use('/playground/assets', enterDoor('page', '/playground/assets/:file'), (request, response, next) => {
    if (!['GET', 'HEAD'].includes(request.method) || !FILE_NAME.test(request.path)) throw new AppError('NOT_FOUND');
    serveFile(request, response, () => {
      // The library has named the encoding of a file that is gone since the start.
      response.removeHeader('Content-Encoding');
      next();
    });
  });
  router.use('/playground', () => {
    throw new AppError('NOT_FOUND');
  });
  return router;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
