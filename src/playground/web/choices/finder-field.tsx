import { useEffect, useState } from 'react';
import { Button, ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components';

/** A thing that can be chosen, such as a fund or a donor. */
export interface Found {
  readonly id: string;
  readonly name: string;
  /** A text that tells it apart from another one of the same name. */
  readonly note?: string;
  /** The name with what tells it apart, where it stands alone: “Ada Lovelace (12, London)”. */
  readonly title?: string;
}

interface FinderFieldProps {
  readonly label: string;
  readonly placeholder: string;
  /** The name of the thing that is chosen now, for a field that shows it. Another one takes its place. */
  readonly chosen?: string;
  /** Finds things by the beginning of words of their names. Throws an Error whose message the field shows. */
  readonly find: (search: string, signal: AbortSignal) => Promise<readonly Found[]>;
  readonly onChoose: (found: Found) => void;
}

/** A typist's pause, after which the gateway is asked. */
const PAUSE_MS = 150;

/** Finds a thing by typing a part of its name. The gateway searches, without regard to case and accents. */
export function FinderField({ label, placeholder, chosen = '', find, onChoose }: FinderFieldProps) {
  const [typed, setTyped] = useState<string>();
  // Nobody looks for the name that is chosen already.
  const text = typed ?? '';
  const [found, setFound] = useState<{ readonly of: string; readonly items: readonly Found[]; readonly problem?: string }>();
  useEffect(() => {
    const unwanted = new AbortController();
    const timer = setTimeout(() => {
      find(text, unwanted.signal).then(
        (items) => unwanted.signal.aborted || setFound({ of: text, items }),
        (error: unknown) => unwanted.signal.aborted || setFound({ of: text, items: [], problem: (error as Error).message }),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      unwanted.abort();
    };
  }, [text, find]);
  const items = found?.items ?? [];
  // Someone who types fast and presses Enter must not take a thing that was found for an earlier text.
  const isOld = found?.of !== text;
  const nothing = found?.problem ?? (isOld ? 'Searching…' : 'Nothing is found.');
  return (
    <ComboBox
      className="finder"
      items={items}
      inputValue={typed ?? chosen}
      // The list tells the text anew when it opens and closes.
      onInputChange={(next) => setTyped((before) => (before === undefined && next === chosen ? undefined : next))}
      onBlur={() => {
        if (chosen !== '') setTyped(undefined);
      }}
      value={null}
      menuTrigger="focus"
      allowsEmptyCollection
      // Otherwise Enter would wipe a text out while its search is under way.
      allowsCustomValue
      onChange={(key) => {
        const item = items.find(({ id }) => id === key);
        if (!item) return;
        onChoose(item);
        setTyped(undefined);
      }}
    >
      <Label>{label}</Label>
      <div className="finder-field">
        <Input placeholder={placeholder} onFocus={(event) => event.currentTarget.select()} />
        <Button className="small-button" aria-label={`Show ${label}`}>
          ▾
        </Button>
      </div>
      <Popover className="popover">
        <ListBox className="menu" dependencies={[isOld]} renderEmptyState={() => <p className="menu-note">{nothing}</p>}>
          {(item: Found) => (
            <ListBoxItem id={item.id} textValue={item.name} className="menu-item" isDisabled={isOld}>
              <Text slot="label">{item.name}</Text>
              {item.note && (
                <Text slot="description" className="menu-note">
                  {item.note}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
