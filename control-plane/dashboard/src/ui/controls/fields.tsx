/** Form fields with label, help text and error message. */
import { Check, ChevronDown, Search, X } from 'lucide-react';
import { useId } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { CheckboxButton, CheckboxField as AriaCheckboxField } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { SearchField as AriaSearchField } from 'react-aria-components/SearchField';
import { Select, SelectValue } from 'react-aria-components/Select';
import { SwitchButton, SwitchField as AriaSwitchField } from 'react-aria-components/Switch';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';
import { useText } from '../../i18n/text.ts';
import styles from './fields.module.css';

interface FieldProps {
  readonly label: string;
  readonly help?: string | undefined;
  /** Error message; null if the value is valid. */
  readonly error?: string | null | undefined;
  readonly isDisabled?: boolean;
}

/** A suggested value with its description. */
export interface Suggestion {
  readonly text: string;
  readonly meaning?: string | undefined;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'password' | 'url' | 'number' | 'datetime-local' | 'date' | 'time';
  readonly name?: string;
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly isRequired?: boolean;
  readonly placeholder?: string;
  readonly inputMode?: 'text' | 'numeric' | 'decimal' | 'url';
  /** Number of lines; a value above 1 makes a multi-line field. */
  readonly rows?: number;
  /** Suggested values; any other text is also allowed. */
  readonly suggestions?: readonly Suggestion[];
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
  /** Whether the field is for names, addresses or rules: monospace and without spell checking. */
  readonly isCode?: boolean;
  /** Whether Enter in the field does not submit the form. */
  readonly keepsEnter?: boolean;
}

export function TextField(props: TextFieldProps): ReactNode {
  const {
    label,
    help,
    error = null,
    rows = 1,
    isCode = false,
    isLabelHidden = false,
    keepsEnter = false,
    placeholder = '',
    suggestions,
    ...rest
  } = props;
  const listId = useId();
  const inputClass = `${styles['input']} ${isCode ? styles['code'] : ''}`;
  const spelling = isCode ? { spellCheck: 'false' as const, autoCorrect: 'off', autoCapitalize: 'none' } : {};
  return (
    <AriaTextField
      className={styles['field'] ?? ''}
      isInvalid={error !== null}
      validationBehavior="aria"
      {...(isLabelHidden && { 'aria-label': label })}
      {...(keepsEnter && { onKeyDown: dropEnter })}
      {...rest}
    >
      {!isLabelHidden && <Label className={styles['label'] ?? ''}>{label}</Label>}
      {rows > 1 ? (
        <TextArea className={inputClass} rows={rows} placeholder={placeholder} {...spelling} />
      ) : (
        <Input
          className={inputClass}
          placeholder={placeholder}
          {...spelling}
          {...(suggestions !== undefined && { list: listId })}
        />
      )}
      {suggestions !== undefined && (
        <datalist id={listId}>
          {suggestions.map(({ text, meaning }) => (
            <option key={text} value={text} label={meaning} />
          ))}
        </datalist>
      )}
      <Below help={help} error={error} />
    </AriaTextField>
  );
}

function dropEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}

function Below({ help, error }: Pick<FieldProps, 'help' | 'error'>): ReactNode {
  return (
    <>
      {help !== undefined && (
        <Text slot="description" className={styles['help'] ?? ''}>
          {help}
        </Text>
      )}
      <FieldError className={styles['error'] ?? ''}>{error}</FieldError>
    </>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly onSubmit?: (value: string) => void;
  readonly autoFocus?: boolean;
}

/** A search field. Only screen readers get its label. */
export function SearchField({ label, placeholder, ...rest }: SearchFieldProps): ReactNode {
  const { say } = useText();
  return (
    <AriaSearchField className={styles['search'] ?? ''} aria-label={label} {...rest}>
      <Search size={18} aria-hidden />
      <Input
        className={styles['input'] ?? ''}
        placeholder={placeholder ?? label}
        spellCheck="false"
        autoCapitalize="none"
      />
      <Button className={styles['clear'] ?? ''} aria-label={say('action.clearSearch')}>
        <X size={16} aria-hidden />
      </Button>
    </AriaSearchField>
  );
}

/** An option of a select field. */
export interface Choice<Id extends string> {
  readonly id: Id;
  readonly text: string;
  readonly help?: string;
}

interface SelectFieldProps<Id extends string> extends FieldProps {
  readonly value: Id;
  readonly onChange: (value: Id) => void;
  readonly choices: readonly Choice<Id>[];
  /** Whether only screen readers get the label. */
  readonly isLabelHidden?: boolean;
}

/** A drop-down list of choices. */
export function SelectField<Id extends string>(props: SelectFieldProps<Id>): ReactNode {
  const { label, help, error = null, value, onChange, choices, isLabelHidden = false, ...rest } = props;
  return (
    <Select
      className={styles['field'] ?? ''}
      value={value}
      onChange={(key) => onChange(key as Id)}
      isInvalid={error !== null}
      {...(isLabelHidden && { 'aria-label': label })}
      {...rest}
    >
      {!isLabelHidden && <Label className={styles['label'] ?? ''}>{label}</Label>}
      <Button className={`${styles['input']} ${styles['opener']}`}>
        <SelectValue className={styles['chosen'] ?? ''} />
        <ChevronDown size={18} aria-hidden />
      </Button>
      <Below help={help} error={error} />
      <Popover className={`popover ${styles['popover']}`}>
        <ListBox className={styles['list'] ?? ''} items={choices}>
          {({ id, text, help: more }) => (
            <ListBoxItem id={id} textValue={text} className={styles['item'] ?? ''}>
              <Text slot="label">{text}</Text>
              {more !== undefined && (
                <Text slot="description" className={styles['help'] ?? ''}>
                  {more}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

interface ToggleProps {
  readonly children: ReactNode;
  readonly isSelected: boolean;
  readonly onChange: (isSelected: boolean) => void;
  readonly isDisabled?: boolean;
  /** Label that screen readers read instead of the text. */
  readonly 'aria-label'?: string;
}

/** A switch that takes effect at once. */
export function SwitchField({ children, ...rest }: ToggleProps): ReactNode {
  return (
    <AriaSwitchField {...rest}>
      <SwitchButton className={styles['switch'] ?? ''}>
        <span className={styles['track']} aria-hidden>
          <span className={styles['knob']} />
        </span>
        <span>{children}</span>
      </SwitchButton>
    </AriaSwitchField>
  );
}

/** A checkbox in a form or a row. */
export function CheckboxField({ children, ...rest }: ToggleProps): ReactNode {
  return (
    <AriaCheckboxField {...rest}>
      <CheckboxButton className={styles['checkbox'] ?? ''}>
        <span className={styles['box']} aria-hidden>
          <Check size={16} />
        </span>
        <span>{children}</span>
      </CheckboxButton>
    </AriaCheckboxField>
  );
}
