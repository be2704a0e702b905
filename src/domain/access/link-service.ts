import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../errors';
import { toLink, toSignedText, type Link, type LinkCaller } from '../../formats/link-address';
import type { RequestAccess } from './access-service';
import type { KeyRing, SharedKey } from '../paging/key-ring';

/** A link lives for an hour at most, and its key signs for a day. */
const MAX_KEY_SECONDS = 25 * 60 * 60;
const SECONDS_PER_MINUTE = 60;
const MS_PER_SECOND = 1000;

/**
 * Signs links to files, and checks them. A link stands for its caller at one address for some minutes. It grants nothing by itself: every
 * download checks what the caller may do at that moment.
 */
export class LinkService {
  constructor(
    private readonly keys: KeyRing,
    private readonly linkMinutes: number,
  ) {}

  /** The link to the address of a file, for the caller of a request. Throws an AppError. */
  async sign(address: string, access: RequestAccess): Promise<string> {
    const caller = await access.caller.forLink();
    const expires = Math.floor(Date.now() / MS_PER_SECOND) + this.linkMinutes * SECONDS_PER_MINUTE;
    const text = toSignedText(address, expires, caller);
    return toLink(text, toSignature(await this.keys.newest(), text));
  }

  /** The caller whom a link stands for. Throws INVALID_LINK. */
  async open({ signedText, signature, expires, caller }: Link): Promise<LinkCaller> {
    const key = await this.keys.find((each) => each.age < MAX_KEY_SECONDS && timingSafeEqual(toSignature(each, signedText), signature));
    if (!key) throw new AppError('INVALID_LINK', { fault: 'its signature is wrong' });
    if (expires * MS_PER_SECOND <= Date.now()) throw new AppError('INVALID_LINK', { fault: 'it has expired' });
    return caller;
  }
}

const toSignature = (key: SharedKey, text: string): Buffer => createHmac('sha256', key.forLinks).update(text).digest();
