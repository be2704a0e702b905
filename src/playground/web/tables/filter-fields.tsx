import { isRange, isUnreadable, type TypedFilter } from './filter-text';
import { isTime, type TableColumn } from './table-types';

interface FilterFieldsProps {
  readonly column: TableColumn;
  readonly typed: TypedFilter;
  readonly onChange: (typed: TypedFilter) => void;
}

/** The filter of one column: a part of its text, or the first and the last value of a range. */
export function FilterFields({ column, typed, onChange }: FilterFieldsProps) {
  const { title, kind } = column;
  if (!isRange(column)) {
    return (
      <input
        type="search"
        aria-label={`${title} contains`}
        placeholder="Contains"
        value={typed.text ?? ''}
        onChange={(event) => onChange({ text: event.target.value })}
      />
    );
  }
  const bounds = [
    ['min', 'from', 'From'],
    ['max', 'to', 'To'],
  ] as const;
  return bounds.map(([bound, word, placeholder]) => (
    <input
      key={bound}
      type={isTime(kind) ? 'date' : 'text'}
      inputMode="decimal"
      aria-label={`${title} ${word}`}
      aria-invalid={isUnreadable(column, typed[bound], navigator.languages)}
      placeholder={placeholder}
      value={typed[bound] ?? ''}
      onChange={(event) => onChange({ ...typed, [bound]: event.target.value })}
    />
  ));
}
