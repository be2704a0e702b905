import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { createCellFormat } from '../values/cell-format';

interface ScrolledRowsProps {
  /** The name of the place for screen readers. */
  readonly label: string;
  /** True where fields within the rows take the focus. Without them, the part itself is a stop of the keyboard, which scrolls it. */
  readonly hasFields: boolean;
  /** A table. */
  readonly children: ReactNode;
}

interface SeenRows {
  readonly first: number;
  readonly last: number;
  readonly all: number;
}

/** Rows of a dialog that scroll in a place of their own, and a sentence that says which of them are in sight. */
export function ScrolledRows({ label, hasFields, children }: ScrolledRowsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<SeenRows>();
  useLayoutEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const measure = (): void => setSeen(toSeen(current));
    measure();
    current.addEventListener('scroll', measure, { passive: true });
    const sizes = new ResizeObserver(measure);
    for (const part of [current, ...current.children]) sizes.observe(part);
    return () => {
      current.removeEventListener('scroll', measure);
      sizes.disconnect();
    };
  }, []);
  const { format } = createCellFormat(navigator.languages);
  const isCut = seen !== undefined && seen.last - seen.first + 1 < seen.all;
  return (
    <>
      <div ref={place} className="scrolled-rows" role="region" aria-label={label} tabIndex={isCut && !hasFields ? 0 : -1}>
        {children}
      </div>
      {isCut && (
        <p className="scrolled-part">
          {format(seen.first, 'count')} to {format(seen.last, 'count')} of {format(seen.all, 'count')} rows are in sight: scroll the list
          for the others.
        </p>
      )}
    </>
  );
}

/** The first and the last row that are in sight whole. Undefined while the rows are hidden. */
function toSeen(place: HTMLElement): SeenRows | undefined {
  const { top, bottom, height } = place.getBoundingClientRect();
  const head = place.querySelector('thead')?.getBoundingClientRect().bottom ?? top;
  const rows = [...place.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect());
  if (height === 0) return undefined;
  // Rounded sizes may be a pixel off.
  const whole = rows.flatMap((row, at) => (row.top >= Math.max(top, head) - 1 && row.bottom <= bottom + 1 ? [at + 1] : []));
  return { first: whole[0] ?? 0, last: whole.at(-1) ?? 0, all: rows.length };
}
