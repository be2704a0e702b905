import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** The policy that the Playground needs: everything from this origin, nothing from elsewhere, no eval. No other answer depends on it. */
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

/** Sets the headers that make browsers protect every answer, and Cache-Control: no-store. */
export function setSecurityHeaders(): RequestHandler {
  const fixedHeaders = recordHelmet();
  return (request, response, next) => {
    response.setHeaders(fixedHeaders);
    // Browsers ignore this header over plain http, so it must not be sent there (RFC 6797 section 7.2).
    if (request.secure) response.set('Strict-Transport-Security', 'max-age=31536000; includeSubDomains');
    next();
  };
}

/** Runs helmet once and records its headers, because they are the same for every answer. */
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
