import { useEffect, useRef, useState, type ReactNode } from 'react';

/**
 * The one place of a report for its notices. It is a line high, or two on a phone, and a button shows all that has no room. It takes no room before the first
 * notice, and keeps its line when the last one goes, so that nothing moves away from a pointer.
 */
export function NoticeLine({ children }: { readonly children: ReactNode }) {
  const line = useRef<HTMLDivElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [isCut, setIsCut] = useState(false);
  const [hasBegun, setHasBegun] = useState(false);
  useEffect(() => {
    const { current } = line;
    if (!current) return undefined;
    const measure = (): void => {
      if (current.textContent.trim() !== '') setHasBegun(true);
      if (current.matches('[data-open]')) return;
      // A button that had the focus may have scrolled the line.
      current.scrollLeft = 0;
      setIsCut(current.scrollWidth > current.clientWidth + 1 || current.scrollHeight > current.clientHeight + 4);
    };
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
    <div className="notices" data-begun={hasBegun ? '' : undefined}>
      <div ref={line} className="notice-line" data-open={isOpen ? '' : undefined}>
        {children}
      </div>
      {(isCut || isOpen) && (
        <button type="button" className="notice-button" aria-expanded={isOpen} onClick={() => setIsOpen((before) => !before)}>
          {isOpen ? 'One line' : 'Read all'}
        </button>
      )}
    </div>
  );
}
