import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { Router, type Response } from 'express';
import { AppError } from '../errors';

/** Vite's output; the same place seen from the sources and from the build. */
const WEB_DIRECTORY = join(__dirname, '../../dist/playground-web');

/** The page at /playground and its files; `/` leads to it. `provision` is the preset of its field. */
export function createPlaygroundRoutes(provision: string): Router {
  const template = readFileSync(join(WEB_DIRECTORY, 'index.html'), 'utf8');
  const page = template.replace('__GATEWAY_CONFIG__', () => escapeHtml(JSON.stringify({ provision })));
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/', (_request, response) => response.redirect('/playground'));
  router.get(['/playground', '/playground/'], (_request, response) => {
    response.type('html').send(page);
  });
  // The names of these files carry a hash of their content, and they hold nobody's data.
  const setHeaders = (response: Response): void => void response.set('Cache-Control', 'public, max-age=31536000, immutable');
  router.use(
    '/playground/assets',
    express.static(join(WEB_DIRECTORY, 'assets'), { index: false, redirect: false, cacheControl: false, setHeaders }),
  );
  router.use('/playground', () => {
    throw new AppError('NOT_FOUND');
  });
  return router;
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
