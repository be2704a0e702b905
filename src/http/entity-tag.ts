import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { VersionStamp } from '../data/postgres/version-stamp';
import type { FileLayout } from '../formats/file-format';
import type { RequestContext } from '../resolvers/request/request-context';
import { RENDERING, type FileRows } from '../rows/row-stream';
import { setDataVersion } from './door-kit';

/** Bytes of a digest in a tag: collisions of 144 bits do not happen. */
const TAG_BYTES = 18;
const CODING_MARK = /-(?:gzip|br)"$/;

/**
 * The tag of a request's If-None-Match that names the bytes of `tag` (RFC 9110 section 13.1.2); undefined when the caller does not have
 * them. A tag of compressed bytes counts too, whatever coding is asked for now. Express's own `fresh` minds the Cache-Control: no-cache
 * that browsers and Node send along with a tag that a program gives them.
 */
export function findKnownTag(request: Request, tag: string): string | undefined {
  const offered = (request.get('If-None-Match') ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return offered.includes('*') ? tag : offered.find((each) => each.replace(CODING_MARK, '"') === tag);
}

/**
 * The strong entity tag of rows in a layout (RFC 9110 section 8.8.3): the same tag stands for the same bytes. It is made from the data
 * version, the layout, and the rows' own key, which holds organization, arguments and the caller's tier.
 */
export class EntityTag {
  private readonly form: string;

  constructor(
    rows: FileRows,
    { head, template, tail }: FileLayout,
    /** The version that the rows are of, whatever the newest one is, and the name of the bytes that it has since the last erasure. */
    private readonly past?: { readonly state: VersionStamp; readonly bytes: string },
  ) {
    const literals = [...template.before, template.end, template.separator].map((literal) => literal.toString());
    this.form = JSON.stringify([RENDERING, rows.key, head, template.encoding, template.columns, literals, tail]);
  }

  /**
   * Answers 304 when the caller has the rows of the present data version already, and returns true. Nothing has been read by then but the
   * caller's access, and which version a past state is of.
   */
  answersNotModified(request: Request, response: Response, context: RequestContext): boolean {
    const version = context.books.version;
    const has = version === undefined ? undefined : findKnownTag(request, this.of(version));
    if (has === undefined) return false;
    response.vary('Accept-Encoding');
    response.set('ETag', has);
    setDataVersion(response, context, this.past?.state);
    response.status(304).end();
    return true;
  }

  /** Sets the tag of an answer whose first rows have been read. */
  set(response: Response, context: RequestContext): void {
    const version = context.books.version;
    if (version !== undefined) response.set('ETag', this.of(version));
  }

  private of(version: VersionStamp): string {
    const digest = createHash('sha256')
      .update(`${this.past?.bytes ?? version} ${this.form}`)
      .digest();
    return `"${digest.subarray(0, TAG_BYTES).toString('base64url')}"`;
  }
}
