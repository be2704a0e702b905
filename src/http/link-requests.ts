import type { Request, RequestHandler, Response } from 'express';
import type { LinkService } from '../domain/access/link-service';
import { parseLink, type LinkCaller } from '../formats/link-address';

/**
 * Opens links to files: the request goes on to the file's own address, for the caller whom the link stands for. A link counts alone; a
 * cookie and credentials in headers that come along are not read.
 */
export function openLinks(links: LinkService): RequestHandler {
  return async (request: Request, response: Response, next) => {
    const link = request.method === 'GET' || request.method === 'HEAD' ? parseLink(request.originalUrl) : undefined;
    if (link) {
      response.locals.linkCaller = await links.open(link);
      request.url = link.address;
    }
    next();
  };
}

/** The caller whom the request's link stands for; undefined for a request that is no link. */
export const linkCallerOf = (response: Response): LinkCaller | undefined => response.locals.linkCaller as LinkCaller | undefined;
