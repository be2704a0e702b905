import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';

interface FoldedLineProps {
  /** The name of the line for screen readers. */
  readonly label: string;
  readonly children: ReactNode;
}

/** These parts are never folded: a report is known by its period, its donor and its conditions, and nobody types into what is away. */
const KEPT = '.period, .finder, .chips, .narrow-button, [data-kept]';

/** Shows fields in one line. Those without room are folded away, and a button shows them below. */
export function FoldedLine({ label, children }: FoldedLineProps) {
  const line = useRef<HTMLElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [hasFolded, setHasFolded] = useState(false);
  useLayoutEffect(() => {
    const { current } = line;
    if (!current) return undefined;
    const measure = (): void => setHasFolded(fold(current, toggle.current, isOpen));
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(current);
    const texts = new MutationObserver(measure);
    texts.observe(current, { childList: true, subtree: true, characterData: true });
    return () => {
      sizes.disconnect();
      texts.disconnect();
    };
  }, [isOpen]);
  return (
    <section ref={line} className="report-form" aria-label={label}>
      {children}
      <button
        ref={toggle}
        type="button"
        className="field-button fold-button"
        aria-expanded={isOpen}
        data-idle={hasFolded ? undefined : ''}
        onClick={() => setIsOpen((before) => !before)}
      >
        {isOpen ? 'Fewer choices' : 'More choices'}
      </button>
    </section>
  );
}

/**
 * Folds the last parts of a line until the others have room beside the button. Returns true when some part has no room in the line, also
 * while all are shown.
 */
function fold(line: HTMLElement, toggle: HTMLElement | null, isOpen: boolean): boolean {
  const parts = [...line.children].filter((part) => part !== toggle && !part.matches('.filter-editor'));
  for (const part of parts) part.removeAttribute('data-folded');
  const gap = Number.parseFloat(getComputedStyle(line).columnGap) || 0;
  const widthOf = (part: Element | null): number => (part ? part.getBoundingClientRect().width + gap : 0);
  const widths = new Map(parts.map((part) => [part, widthOf(part)]));
  let needed = [...widths.values()].reduce((sum, width) => sum + width, -gap);
  const room = line.clientWidth;
  if (needed <= room + 1) return false;
  needed += widthOf(toggle);
  for (const part of parts.toReversed()) {
    if (needed <= room + 1) break;
    if (part.matches(KEPT)) continue;
    if (!isOpen) part.setAttribute('data-folded', '');
    needed -= widths.get(part)!;
  }
  return true;
}
