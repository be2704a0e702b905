import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import type { VersionStamp } from '../data/postgres/version-stamp';
import type { FileLayout } from '../formats/file-format';
import { dataVersionOf, type RequestContext } from '../resolvers/request-context';
import { RENDERING, type RowStream } from '../rows/row-stream';
import { setDataVersion } from './door-kit';

/** Bytes of a digest in a tag: collisions of 144 bits do not happen. */
const TAG_BYTES = 18;
const CODING_MARK = /-(?:gzip|br)"$/;

/**
 * The strong entity tag of rows in a layout (RFC 9110 section 8.8.3): the same tag stands for the same bytes. It is made from the data
 * version, the layout, and the rows' own key, which holds organization, arguments and the caller's tier.
 */
export class EntityTag {
  private readonly form: string;

  constructor(rows: RowStream<unknown>, { head, template, tail }: FileLayout) {
    const literals = [...template.before, template.end, template.separator].map((literal) => literal.toString());
    this.form = JSON.stringify([RENDERING, rows.key, head, template.encoding, template.columns, literals, tail]);
  }

  /**
   * Answers 304 when the caller has the rows of the present data version already, and returns true. Nothing has been read by then but the
   * caller's access.
   */
  answersNotModified(request: Request, response: Response, context: RequestContext): boolean {
    const known = request.get('If-None-Match');
    const version = dataVersionOf(context);
    if (known === undefined || version === undefined) return false;
    const tag = this.of(version);
    // A tag of compressed bytes counts too, whatever coding is asked for now: the caller has the rows.
    const offered = known.split(',').map((each) => each.trim().replace(/^W\//, ''));
    const has = known.trim() === '*' ? tag : offered.find((each) => each.replace(CODING_MARK, '"') === tag);
    if (has === undefined) return false;
    response.vary('Accept-Encoding');
    response.set('ETag', has);
    setDataVersion(response, context);
    response.status(304).end();
    return true;
  }

  /** Sets the tag of an answer whose first rows have been read. */
  set(response: Response, context: RequestContext): void {
    const version = dataVersionOf(context);
    if (version !== undefined) response.set('ETag', this.of(version));
  }

  private of(version: VersionStamp): string {
    const digest = createHash('sha256').update(`${version} ${this.form}`).digest();
    return `"${digest.subarray(0, TAG_BYTES).toString('base64url')}"`;
  }
}
