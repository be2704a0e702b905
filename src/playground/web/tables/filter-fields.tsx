import { isRange, isUnreadable, type TypedFilter } from '../rows/filter-text';
import { isTime, type TableColumn } from '../values/table-types';

interface FilterFieldsProps {
  readonly column: TableColumn;
  readonly typed: TypedFilter;
  readonly onChange: (typed: TypedFilter) => void;
}

/** The parts of a filter with their labels, which stand under the column's title. */
const partsOfText = [['text', 'Contains']] as const;
const partsOfRange = [
  ['min', 'From'],
  ['max', 'To'],
] as const;

/** The filter of one column: a part of its text, or the first and the last value of a range. */
export function FilterFields({ column, typed, onChange }: FilterFieldsProps) {
  const { title, kind } = column;
  const isText = !isRange(column);
  return (isText ? partsOfText : partsOfRange).map(([part, label]) => (
    <label key={part} className="filter-field">
      {label}
      <input
        type={isText ? 'search' : isTime(kind) ? 'date' : 'text'}
        inputMode={isText ? undefined : 'decimal'}
        aria-label={`${title} ${label.toLowerCase()}`}
        aria-invalid={isUnreadable(column, typed[part], navigator.languages)}
        value={typed[part] ?? ''}
        onChange={(event) => onChange({ ...typed, [part]: event.target.value })}
      />
    </label>
  ));
}
