import { useEffect, useRef, useState, type RefObject } from 'react';

interface FieldFocus<Part extends HTMLElement> {
  /** The part of the page in which the fields appear. */
  readonly part: RefObject<Part | null>;
  /** Gives the focus to the first field of the part, once the change that brings the field is rendered. */
  readonly focusField: () => void;
}

/**
 * Moves the focus on to a field that a choice has brought. A list or a menu gives the focus back to its button when it closes, unless the
 * focus has gone elsewhere by then.
 */
export function useFieldFocus<Part extends HTMLElement>(): FieldFocus<Part> {
  const part = useRef<Part>(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (turn === 0) return;
    const field = part.current?.querySelector<HTMLElement>('input, [role=spinbutton]');
    field?.focus();
    // A typed text takes the place of the one that was there, as after the Tab key.
    if (field instanceof HTMLInputElement) field.select();
  }, [turn]);
  return { part, focusField: () => setTurn((before) => before + 1) };
}
