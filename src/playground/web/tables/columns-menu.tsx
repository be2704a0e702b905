import { useEffect, useRef, useState, type PointerEvent } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Popover } from 'react-aria-components';
import type { ColumnLayout } from './column-layout';
import { foldText } from '../values/folded-text';

interface ColumnsMenuProps {
  readonly layout: ColumnLayout;
  readonly onWiden: (id: string, steps: -1 | 1) => void;
}

/** Finds, shows, hides, moves and resizes columns, all by keyboard too. A column is also dragged by its handle. */
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
  const [search, setSearch] = useState('');
  const [dragged, setDragged] = useState<string>();
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
  const end = (): void => setDragged(undefined);
  /** Puts the dragged column beside the one under the pointer. A drag ends with the button, also where nobody heard of its end. */
  const drag = ({ clientX, clientY, buttons }: PointerEvent): void => {
    if ((buttons & 1) === 0) return end();
    const to = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-item]')?.dataset.item;
    if (dragged !== undefined && to !== undefined && to !== dragged) layout.move(dragged, to);
  };
  const found = layout.all.filter(({ column: { title } }) => foldText(title).includes(foldText(search.trim())));
  const shownCount = layout.all.filter(({ isShown }) => isShown).length;
  return (
    <>
      <input
        type="search"
        aria-label="Find a column"
        placeholder="Find a column"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul ref={list} onPointerMove={drag} onPointerUp={end} onPointerCancel={end}>
        {found.map(({ column: { id, title, about }, isShown }) => {
          const place = layout.all.findIndex(({ column }) => column.id === id);
          return (
            <li key={id} data-item={id} data-dragged={dragged === id ? '' : undefined}>
              <span
                className="drag-handle"
                aria-hidden="true"
                onPointerDown={(event) => {
                  event.preventDefault();
                  // The list stays in its place, and an item that moves would lose the pointer.
                  list.current?.setPointerCapture(event.pointerId);
                  setDragged(id);
                }}
              >
                ⠿
              </span>
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
                aria-label={`Move ${title} up`}
                disabled={place === 0}
                onClick={() => shift(id, -1)}
              >
                ↑
              </button>
              <button
                type="button"
                data-move={toKey(id, 1)}
                aria-label={`Move ${title} down`}
                disabled={place === layout.all.length - 1}
                onClick={() => shift(id, 1)}
              >
                ↓
              </button>
              <button type="button" aria-label={`Make ${title} narrower`} disabled={!isShown} onClick={() => onWiden(id, -1)}>
                −
              </button>
              <button type="button" aria-label={`Make ${title} wider`} disabled={!isShown} onClick={() => onWiden(id, 1)}>
                +
              </button>
            </li>
          );
        })}
      </ul>
      {found.length === 0 && <p>No column has this name.</p>}
    </>
  );
}

const toKey = (id: string, step: -1 | 1): string => `${step === 1 ? '>' : '<'}${id}`;
