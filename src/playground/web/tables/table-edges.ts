import { useEffect, useRef, type RefObject } from 'react';

/** The pixels of rows that must be out of sight before the figures above give way. With fewer, their height would bring all rows into sight. */
const MANY_HIDDEN = 120;

/** Marks the edges of a table beyond which there is more, for their shades, and tells whether somebody has scrolled down. */
export function useTableEdges(frame: RefObject<HTMLElement | null>, onScrolled: ((isScrolled: boolean) => void) | undefined): void {
  const tell = useRef(onScrolled);
  tell.current = onScrolled;
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    const mark = (): void => {
      const { scrollTop, scrollLeft, scrollWidth, clientWidth, scrollHeight, clientHeight } = current;
      const [below, right] = [scrollHeight - clientHeight - scrollTop, scrollWidth - clientWidth - scrollLeft];
      const more = { above: scrollTop, below, left: scrollLeft, right };
      // A pixel may be left of a rounding.
      for (const [edge, pixels] of Object.entries(more)) current.parentElement?.toggleAttribute(`data-more-${edge}`, pixels > 1);
      if (scrollTop === 0) tell.current?.(false);
      else if (scrollTop + below > MANY_HIDDEN) tell.current?.(true);
    };
    mark();
    current.addEventListener('scroll', mark, { passive: true });
    const sizes = new ResizeObserver(mark);
    for (const part of [current, ...current.children]) sizes.observe(part);
    return () => {
      current.removeEventListener('scroll', mark);
      sizes.disconnect();
      tell.current?.(false);
    };
  }, [frame]);
}
