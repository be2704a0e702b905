import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover, Tag, TagGroup, TagList } from 'react-aria-components';
import { useFieldFocus } from '../look/field-focus';
import { filterTitles, toConditions, writeValue } from './choice-texts';
import { FinderField, type Found } from './finder-field';
import { findLack, type ReportChoices } from './report-choices';
import { RangeFields } from './range-fields';
import { SinceField } from './since-field';
import { StateField } from './state-field';
import type { FilterName } from './report-definitions';
import { fetchLineWords, type LineWords, type Names } from './report-names';
import { foldText } from '../values/folded-text';

interface FilterBarProps {
  readonly provision: string;
  readonly choices: ReportChoices;
  readonly filters: readonly FilterName[];
  /** The condition without which the report does not run. */
  readonly needs: FilterName | undefined;
  readonly names: Names;
  readonly today: string;
  readonly timeZone: string;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Shows the conditions of a report, each with a way to take it away, and adds others. */
export function FilterBar({ provision, choices, filters, needs, names, today, timeZone, onChange }: FilterBarProps) {
  const [chosen, setChosen] = useState<FilterName>();
  const adder = useRef<HTMLButtonElement>(null);
  const { part: editor, focusField } = useFieldFocus<HTMLDivElement>();
  const isMissing = needs !== undefined && findLack(choices) === needs;
  const isField = needs === 'donor';
  const open = chosen ?? (isMissing && !isField ? needs : undefined);
  const chips = toConditions(choices, names.nameOf, writeValue).filter(({ id }) => !isField || id !== 'donor');
  const close = (): void => {
    setChosen(undefined);
    adder.current?.focus();
  };
  const add = (next: ReportChoices): void => {
    onChange(next);
    close();
  };
  const press = (event: KeyboardEvent): void => {
    // The list of what is found takes the first Escape.
    const isListOpen = event.target instanceof Element && event.target.ariaExpanded === 'true';
    if (event.key === 'Escape' && !isMissing && !isListOpen) close();
  };
  const hasRemoved = useRef(false);
  // The last condition takes the focus with it.
  useEffect(() => {
    if (!hasRemoved.current) return;
    hasRemoved.current = false;
    if (isMissing) focusField();
    else if (chips.length === 0) (adder.current ?? document.querySelector<HTMLElement>('main'))?.focus();
  });
  return (
    <>
      {chips.length > 0 && (
        <TagGroup
          className="chips"
          aria-label="Conditions"
          onRemove={(keys) => {
            const gone = chips.find(({ id }) => keys.has(id));
            if (!gone) return;
            hasRemoved.current = true;
            onChange(gone.without);
          }}
        >
          <TagList items={chips}>
            {({ id, text }) => (
              <Tag id={id} textValue={text} className="chip">
                {text}
                <Button slot="remove" className="chip-remove">
                  ×
                </Button>
              </Tag>
            )}
          </TagList>
        </TagGroup>
      )}
      {filters.length > 0 && (
        <MenuTrigger>
          <Button ref={adder} className="field-button narrow-button">
            Narrow the report
          </Button>
          <Popover className="popover">
            <Menu
              className="menu"
              aria-label="Narrow the report by"
              onAction={(name) => {
                setChosen(name as FilterName);
                focusField();
              }}
            >
              {filters.map((name) => (
                <MenuItem key={name} id={name} className="menu-item">
                  {filterTitles[name]}
                </MenuItem>
              ))}
            </Menu>
          </Popover>
        </MenuTrigger>
      )}
      {open && (
        <div ref={editor} className="filter-editor" onKeyDown={press}>
          <FilterEditor key={open} {...{ provision, choices, names, today, timeZone }} name={open} onChange={add} />
          {!isMissing && (
            <button type="button" onClick={close}>
              Close
            </button>
          )}
        </div>
      )}
    </>
  );
}

interface FilterEditorProps extends Pick<FilterBarProps, 'provision' | 'choices' | 'names' | 'today' | 'timeZone' | 'onChange'> {
  readonly name: FilterName;
}

function FilterEditor({ name, provision, choices, names, today, timeZone, onChange }: FilterEditorProps) {
  const title = filterTitles[name];
  switch (name) {
    case 'funds':
      return (
        <FinderField
          label="Fund"
          placeholder="Part of a name"
          find={names.findFunds}
          onChoose={({ id }) => onChange({ ...choices, funds: [...new Set([...choices.funds, Number(id)])] })}
        />
      );
    case 'donor':
      return (
        <FinderField
          label="Donor"
          placeholder="Part of a name, in any order"
          find={names.findDonors}
          onChoose={({ id }) => onChange({ ...choices, donor: Number(id) })}
        />
      );
    case 'amount':
      return (
        <RangeFields
          {...{ title }}
          kind="money"
          min={choices.amountMin}
          max={choices.amountMax}
          onChange={(amountMin, amountMax) => onChange({ ...choices, amountMin, amountMax })}
        />
      );
    case 'giftDate':
      return (
        <RangeFields
          {...{ title }}
          kind="date"
          min={choices.giftDateFrom}
          max={choices.giftDateTo}
          onChange={(giftDateFrom, giftDateTo) => onChange({ ...choices, giftDateFrom, giftDateTo })}
        />
      );
    case 'since':
      return <SinceField {...{ provision, choices, today, timeZone, onChange }} />;
    case 'state':
      return (
        <StateField key={choices.state} {...{ title, today }} state={choices.state} onChange={(state) => onChange({ ...choices, state })} />
      );
    default:
      return (
        <WordField
          {...{ provision }}
          words={name}
          onChoose={(word) => onChange({ ...choices, [name]: [...new Set([...choices[name], word])] })}
        />
      );
  }
}

interface WordFieldProps {
  readonly provision: string;
  readonly words: keyof LineWords;
  readonly onChoose: (word: string) => void;
}

/** Finds a word among those that the lines of all time use. */
function WordField({ provision, words, onChoose }: WordFieldProps) {
  const all = useRef<Promise<LineWords>>(undefined);
  const find = useCallback(
    async (search: string, signal: AbortSignal): Promise<readonly Found[]> => {
      all.current ??= fetchLineWords(provision, signal).catch((error: unknown) => {
        all.current = undefined;
        throw error;
      });
      const found = (await all.current)[words];
      return found.filter((word) => foldText(word).includes(foldText(search))).map((word) => ({ id: word, name: word }));
    },
    [provision, words],
  );
  return <FinderField label={filterTitles[words]} placeholder="Part of a word" find={find} onChoose={({ id }) => onChoose(id)} />;
}
