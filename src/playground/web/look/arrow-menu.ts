import { useEffect, useRef, type RefObject } from 'react';

/** The keys that move within a menu, and the step of each; the ends are `first` and `last`. */
const steps: Readonly<Record<string, number | 'first' | 'last'>> = {
  ...{ ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: 'first', End: 'last' },
};

/** Makes the buttons of a menu one stop of the Tab key: that of the page which is open, or the last one that had the focus. Arrows move on. */
export function useArrowMenu<Part extends HTMLElement>(): RefObject<Part | null> {
  const menu = useRef<Part>(null);
  // Each render may bring other buttons, or another open page.
  useEffect(() => {
    const buttons = buttonsOf(menu.current);
    setStop(buttons, buttons.find(({ ariaCurrent }) => ariaCurrent !== null) ?? buttons[0]);
  });
  useEffect(() => {
    const { current } = menu;
    if (!current) return undefined;
    const press = (event: KeyboardEvent): void => {
      const step = steps[event.key];
      const buttons = buttonsOf(current);
      const place = buttons.findIndex((button) => button === event.target);
      if (step === undefined || place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const next = step === 'first' ? 0 : step === 'last' ? buttons.length - 1 : (place + step + buttons.length) % buttons.length;
      buttons[next]?.focus();
    };
    const enter = ({ target }: FocusEvent): void => {
      const buttons = buttonsOf(current);
      setStop(
        buttons,
        buttons.find((button) => button === target),
      );
    };
    current.addEventListener('keydown', press);
    current.addEventListener('focusin', enter);
    return () => {
      current.removeEventListener('keydown', press);
      current.removeEventListener('focusin', enter);
    };
  }, []);
  return menu;
}

const buttonsOf = (menu: HTMLElement | null): HTMLButtonElement[] => [...(menu?.querySelectorAll('button') ?? [])];

function setStop(buttons: readonly HTMLButtonElement[], stop: HTMLButtonElement | undefined): void {
  if (!stop) return;
  for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
}
