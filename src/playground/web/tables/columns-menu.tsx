import { useEffect, useRef } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Popover } from 'react-aria-components';
import type { ColumnLayout } from './column-layout';

interface ColumnsMenuProps {
  readonly layout: ColumnLayout;
  readonly onWiden: (id: string, steps: -1 | 1) => void;
}

/** Shows, hides, moves and resizes columns, all by keyboard too. */
export function ColumnsMenu({ layout, onWiden }: ColumnsMenuProps) {
  return (
    <DialogTrigger>
      <Button className="table-button">Columns</Button>
      <Popover className="columns-menu" placement="bottom end">
        <Dialog aria-label="Columns">
          <Heading slot="title">Columns</Heading>
          <ColumnList layout={layout} onWiden={onWiden} />
          <button type="button" onClick={layout.reset}>
            As they were
          </button>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}

function ColumnList({ layout, onWiden }: ColumnsMenuProps) {
  const list = useRef<HTMLUListElement>(null);
  const pressed = useRef<string>(undefined);
  // A browser takes the focus from a list's item when the item moves. This gives it back.
  useEffect(() => {
    if (pressed.current === undefined) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('button') ?? [])];
    const [button] = buttons.filter(({ dataset, disabled }) => dataset.move === pressed.current && !disabled);
    const [other] = buttons.filter(({ dataset, disabled }) => dataset.move?.slice(1) === pressed.current?.slice(1) && !disabled);
    (button ?? other)?.focus();
    pressed.current = undefined;
  });
  const shift = (id: string, step: -1 | 1): void => {
    pressed.current = toKey(id, step);
    layout.shift(id, step);
  };
  const shownCount = layout.all.filter(({ isShown }) => isShown).length;
  return (
    <ul ref={list}>
      {layout.all.map(({ column: { id, title, about }, isShown }, place) => (
        <li key={id}>
          <label title={about}>
            <input
              type="checkbox"
              checked={isShown}
              // A table without columns would show nothing.
              disabled={isShown && shownCount === 1}
              onChange={(event) => layout.show(id, event.target.checked)}
            />
            {title}
          </label>
          <button
            type="button"
            data-move={toKey(id, -1)}
            aria-label={`Move ${title} left`}
            disabled={place === 0}
            onClick={() => shift(id, -1)}
          >
            ←
          </button>
          <button
            type="button"
            data-move={toKey(id, 1)}
            aria-label={`Move ${title} right`}
            disabled={place === layout.all.length - 1}
            onClick={() => shift(id, 1)}
          >
            →
          </button>
          <button type="button" aria-label={`Make ${title} narrower`} disabled={!isShown} onClick={() => onWiden(id, -1)}>
            −
          </button>
          <button type="button" aria-label={`Make ${title} wider`} disabled={!isShown} onClick={() => onWiden(id, 1)}>
            +
          </button>
        </li>
      ))}
    </ul>
  );
}

const toKey = (id: string, step: -1 | 1): string => `${step === 1 ? '>' : '<'}${id}`;
