import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from 'react-aria-components';

interface ChoiceFieldProps<Name extends string> {
  readonly label: string;
  /** The names that can be chosen, each with its title, in order. */
  readonly choices: Readonly<Record<Name, string>>;
  readonly value: Name;
  readonly onChange: (name: Name) => void;
}

/** A choice as it stands alone. In a sentence it begins with a small letter. */
const toSentenceCase = (title: string): string => title.charAt(0).toUpperCase() + title.slice(1);

/** One choice of a few, by mouse or keyboard. */
export function ChoiceField<Name extends string>({ label, choices, value, onChange }: ChoiceFieldProps<Name>) {
  return (
    <Select className="choice" value={value} onChange={(key) => onChange(key as Name)}>
      <Label>{label}</Label>
      <Button className="field-button">
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover">
        <ListBox className="menu">
          {(Object.entries(choices) as [Name, string][]).map(([name, title]) => (
            <ListBoxItem key={name} id={name} className="menu-item">
              {toSentenceCase(title)}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}
