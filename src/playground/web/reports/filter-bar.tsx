import { useCallback, useRef, useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover, Tag, TagGroup, TagList } from 'react-aria-components';
import { AmountFields } from './amount-fields';
import { filterTitles, toConditions, writeAmount } from './choice-texts';
import { FinderField, type Found } from './finder-field';
import type { ReportChoices } from './report-choices';
import type { FilterName } from './report-definitions';
import { fetchLineWords, type LineWords, type Names } from './report-names';
import { foldText } from '../tables/folded-text';

interface FilterBarProps {
  readonly provision: string;
  readonly choices: ReportChoices;
  readonly filters: readonly FilterName[];
  /** The condition without which the report does not run. */
  readonly needs: FilterName | undefined;
  readonly names: Names;
  readonly onChange: (choices: ReportChoices) => void;
}

/** Shows the conditions of a report, each with a way to take it away, and adds others. */
export function FilterBar({ provision, choices, filters, needs, names, onChange }: FilterBarProps) {
  const [chosen, setChosen] = useState<FilterName>();
  const adder = useRef<HTMLButtonElement>(null);
  const isMissing = needs === 'donor' && choices.donor === undefined;
  const open = isMissing ? needs : chosen;
  const chips = toConditions(choices, names.nameOf, writeAmount);
  const add = (next: ReportChoices): void => {
    onChange(next);
    setChosen(undefined);
    adder.current?.focus();
  };
  return (
    <div className="filters">
      {chips.length > 0 && (
        <TagGroup
          className="chips"
          aria-label="Conditions"
          onRemove={(keys) => {
            const gone = chips.find(({ id }) => keys.has(id));
            if (gone) onChange(gone.without);
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
          <Button ref={adder} className="field-button">
            + Filter
          </Button>
          <Popover className="popover">
            <Menu className="menu" aria-label="Filters" onAction={(name) => setChosen(name as FilterName)}>
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
        <div className="filter-editor">
          <FilterEditor key={open} {...{ provision, choices, names }} name={open} onChange={add} />
          {!isMissing && (
            <button type="button" onClick={() => setChosen(undefined)}>
              Close
            </button>
          )}
        </div>
      )}
    </div>
  );
}

interface FilterEditorProps extends Pick<FilterBarProps, 'provision' | 'choices' | 'names' | 'onChange'> {
  readonly name: FilterName;
}

function FilterEditor({ name, provision, choices, names, onChange }: FilterEditorProps) {
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
      return <AmountFields min={choices.amountMin} max={choices.amountMax} onChange={(range) => onChange({ ...choices, ...range })} />;
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
