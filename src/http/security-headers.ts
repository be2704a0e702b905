import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The Playground needs these; no other answer minds them: everything from this origin, nothing from elsewhere, no eval. */
const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Sets the headers by which a browser guards every answer, and forbids to store any. */
export function setSecurityHeaders(): RequestHandler {
  const fixedHeaders = recordHelmet();
  return (request, response, next) => {
    response.setHeaders(fixedHeaders);
    // Over plain http a browser must ignore it (RFC 6797 section 7.2).
    if (request.secure) response.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
    next();
  };
}

/** helmet gives every answer the same headers, so it is asked once. */
function recordHelmet(): Map<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const secure = helmet({
    strictTransportSecurity: false,
    contentSecurityPolicy: { useDefaults: false, directives: contentSecurityPolicy },
  });
  secure(request, response, () => response.setHeader('Cache-Control', 'no-store'));
  return new Map(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}
