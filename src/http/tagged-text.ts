import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { findKnownTag } from './entity-tag';

/** A text that is the same for all who may read it, with the strong entity tag of its bytes (RFC 9110 section 8.8.3). */
export class TaggedText {
  private readonly tag: string;

  constructor(
    private readonly text: string,
    private readonly mediaType: string,
  ) {
    this.tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  }

  /** Sends the text, or 304 to a caller who has it already. */
  send(request: Request, response: Response): void {
    response.set('ETag', this.tag);
    if (findKnownTag(request, this.tag) !== undefined) response.status(304).end();
    else response.type(this.mediaType).send(this.text);
  }
}
