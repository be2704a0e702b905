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
  /** Finds things by the beginning of words of their names. Throws an Error whose message the field shows. */
  readonly find: (search: string, signal: AbortSignal) => Promise<readonly Found[]>;
  readonly onChoose: (found: Found) => void;
}

/** A typist's pause, after which the gateway is asked. */
const PAUSE_MS = 150;

/** Finds a thing by typing a part of its name. The gateway searches, without regard to case and accents. */
export function FinderField({ label, placeholder, find, onChoose }: FinderFieldProps) {
  const [text, setText] = useState('');
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
      inputValue={text}
      onInputChange={setText}
      value={null}
      menuTrigger="focus"
      allowsEmptyCollection
      // Otherwise Enter would wipe a text out while its search is under way.
      allowsCustomValue
      onChange={(key) => {
        const item = items.find(({ id }) => id === key);
        if (!item) return;
        onChoose(item);
        setText('');
      }}
    >
      <Label>{label}</Label>
      <div className="finder-field">
        <Input placeholder={placeholder} />
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
