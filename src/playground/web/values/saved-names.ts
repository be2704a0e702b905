import { MAX_NAME_LENGTH, MAX_TITLE_LENGTH } from '../../../values/saved-report-limits';

/** A saved report as somebody opened or saved it: its name, and when it had last been saved then. */
export interface OpenedReport {
  readonly name: string;
  /** Undefined while only the name is known, which an address has. */
  readonly updatedAt: string | undefined;
}

/** The form of a name, which is a part of the report's address. */
export const NAME_PATTERN = '[a-z0-9]+(-[a-z0-9]+)*';

/** Proposes a name for a title: “Année 2026, funds” becomes `annee-2026-funds`. Empty when the title has no Latin letters or digits. */
export function proposeName(title: string): string {
  const letters = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = letters.split(/[^a-z0-9]+/).filter((word) => word !== '');
  return words.join('-').slice(0, MAX_NAME_LENGTH).replace(/-$/, '');
}

const COPY = ' (copy)';

/** Proposes a title for the copy of a saved report. It is cut where it would be longer than a title may be. */
export function proposeCopy(title: string): string {
  if (title.length + COPY.length <= MAX_TITLE_LENGTH) return title + COPY;
  // Half of a character outside the basic plane is none that the database could keep.
  const cut = title.slice(0, MAX_TITLE_LENGTH - COPY.length - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${cut}…${COPY}`;
}

/** A part of a title that may be left out: what it says, and the kind of thing that it names. */
export interface TitlePart {
  readonly text: string;
  readonly kind: string;
}

/** Writes a title with as many of the parts as the longest title there may be has room for. It says how many others there are. */
export function toTitle(begin: string, parts: readonly TitlePart[]): string {
  let title = begin;
  let written = begin;
  for (let count = 0; written.length <= MAX_TITLE_LENGTH; count++) {
    const others = parts.slice(count);
    const kinds = [...new Set(others.map(({ kind }) => kind))];
    const thing = kinds.length === 1 ? kinds[0]! : 'condition';
    const more = others.length === 0 ? '' : `, … and ${String(others.length)} more ${thing}${others.length === 1 ? '' : 's'}`;
    if (written.length + more.length <= MAX_TITLE_LENGTH) title = written + more;
    const [next] = others;
    if (!next) break;
    written += `, ${next.text}`;
  }
  return title;
}
