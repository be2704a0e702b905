/** A cell by the places of its row and of its column, both from 0 on. */
export interface CellPlace {
  readonly row: number;
  readonly column: number;
}

/** Selected cells: a rectangle between two corners. The keyboard moves the head; the anchor stays. */
export interface CellRange {
  readonly anchor: CellPlace;
  readonly head: CellPlace;
}

interface TableSize {
  readonly rows: number;
  readonly columns: number;
  /** The rows that one page of the keyboard goes over. */
  readonly pageRows: number;
}

interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
}

const START: CellPlace = { row: 0, column: 0 };

/**
 * The range after a key; undefined when the key moves nothing. Shift keeps the anchor; Control and Home or End go to the first or last row.
 */
export function moveRange(range: CellRange | undefined, press: KeyPress, size: TableSize): CellRange | undefined {
  const { rows, columns } = size;
  if (rows === 0 || columns === 0) return undefined;
  const last: CellPlace = { row: rows - 1, column: columns - 1 };
  const isFar = press.ctrlKey || press.metaKey;
  if (isFar && press.key.toLowerCase() === 'a') return { anchor: START, head: last };
  const head = range?.head;
  const moved = moveHead(head ?? { row: 0, column: 0 }, press.key, isFar, size, last);
  if (!moved) return undefined;
  // The first key only shows where the keyboard stands.
  const next = head || isFar ? clamp(moved, last) : START;
  return { anchor: press.shiftKey && range ? range.anchor : next, head: next };
}

function moveHead({ row, column }: CellPlace, key: string, isFar: boolean, size: TableSize, last: CellPlace): CellPlace | undefined {
  switch (key) {
    case 'ArrowUp':
      return { row: isFar ? 0 : row - 1, column };
    case 'ArrowDown':
      return { row: isFar ? last.row : row + 1, column };
    case 'ArrowLeft':
      return { row, column: isFar ? 0 : column - 1 };
    case 'ArrowRight':
      return { row, column: isFar ? last.column : column + 1 };
    case 'PageUp':
      return { row: row - size.pageRows, column };
    case 'PageDown':
      return { row: row + size.pageRows, column };
    case 'Home':
      return { row: isFar ? 0 : row, column: 0 };
    case 'End':
      return { row: isFar ? last.row : row, column: last.column };
    default:
      return undefined;
  }
}

const clamp = ({ row, column }: CellPlace, last: CellPlace): CellPlace => ({
  row: Math.min(Math.max(row, 0), last.row),
  column: Math.min(Math.max(column, 0), last.column),
});

/** The corners of a range in order: the first cell, and the last one, which is included. */
export function cornersOf({ anchor, head }: CellRange): { readonly first: CellPlace; readonly last: CellPlace } {
  return {
    first: { row: Math.min(anchor.row, head.row), column: Math.min(anchor.column, head.column) },
    last: { row: Math.max(anchor.row, head.row), column: Math.max(anchor.column, head.column) },
  };
}
