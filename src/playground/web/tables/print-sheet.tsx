import { useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { createPortal, flushSync } from 'react-dom';
import { createCellFormat } from '../values/cell-format';

/** The head above the rows or the chart of a print. */
export interface PrintHead {
  readonly title: string;
  /** A line each, such as the period, the filters and the total figures. */
  readonly lines: readonly string[];
  /** The version of the books that the figures are of, in a sentence. */
  readonly books: string;
  /** The ids of columns that a letter leaves out although the screen has them. It has the conditions of its own columns alone. */
  readonly leftOut?: readonly string[];
  /** The time zone in which the print is dated; without it, this computer's. */
  readonly timeZone?: string;
}

/**
 * True while the browser prints and the place is in front: not in the other mode, nor behind another tab. That holds for the browser's own
 * menu and keys too.
 */
export function usePrinting(place: RefObject<Element | null>): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    const isInFront = (): boolean => place.current?.closest('[hidden], [data-inert]') === null;
    // The browser lays out what it prints as soon as this listener returns. The sheet must be there by then.
    const begin = (): void => flushSync(() => setIsPrinting(isInFront()));
    const end = (): void => setIsPrinting(false);
    window.addEventListener('beforeprint', begin);
    window.addEventListener('afterprint', end);
    return () => {
      window.removeEventListener('beforeprint', begin);
      window.removeEventListener('afterprint', end);
    };
  }, [place]);
  return isPrinting;
}

interface PrintSheetProps extends Omit<PrintHead, 'books'> {
  /** True for a sheet whose paper lies on its side. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The sheet that takes the place of the page in a print: whole, and dark on light in every theme. */
export function PrintSheet({ title, lines, isWide = false, children }: PrintSheetProps) {
  // The foot of each page reads it.
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    style.setProperty('--print-title', toCssText(title));
    return () => void style.removeProperty('--print-title');
  }, [title]);
  return createPortal(
    <section className={isWide ? 'print-sheet print-wide' : 'print-sheet'}>
      <h1>{title}</h1>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
      {children}
    </section>,
    document.body,
  );
}

/** A text as a string of CSS, whatever somebody typed as a title. */
const toCssText = (text: string): string =>
  `"${text.replaceAll(/["\\\p{Cc}]/gu, (letter) => `\\${letter.codePointAt(0)!.toString(16)} `)}"`;

/** The version of the newest books, or of past ones, in a sentence. */
export const describeBooks = (version: number, isPast = false): string =>
  `${isPast ? 'These are the books as they were' : 'The books are'} at version ${createCellFormat(navigator.languages).format(version, 'count')}.`;

/** The end of a sheet's head, such as “The books are at version 3. Printed Nov 2, 2026, 3:30 PM (America/New_York).” */
export function describePrint({ books, timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone }: PrintHead): string {
  const now = createCellFormat(navigator.languages).format(new Date().toISOString(), 'instant', timeZone);
  return `${books} Printed ${now} (${timeZone}).`;
}

interface NotePrintProps extends Omit<PrintHead, 'books'> {
  readonly note: string;
}

/** Prints a sentence in the place of rows that are not there, so that nobody takes the screen for a report. */
export function NotePrint({ title, lines, note }: NotePrintProps) {
  const place = useRef<HTMLSpanElement>(null);
  const isPrinting = usePrinting(place);
  return (
    <>
      <span ref={place} />
      {isPrinting && (
        <PrintSheet {...{ title, lines }}>
          <p className="print-note">{note}</p>
        </PrintSheet>
      )}
    </>
  );
}
