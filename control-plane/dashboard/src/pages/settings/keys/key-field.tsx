/** The field that suits a key: a switch, a number with its unit, a choice, lines, a text. */
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { SelectField, SwitchField, TextField } from '../../../ui/controls/fields.tsx';
import type { ConfigKey } from './config-key.ts';
import { useKeyHelp } from './key-help.ts';

interface KeyFieldProps {
  readonly entry: ConfigKey;
  readonly text: string;
  readonly isDisabled: boolean;
  readonly error: string | null;
  readonly onText: (text: string) => void;
  readonly onSwitch: (isOn: boolean) => void;
}

/** The field; its label is the key, read aloud only: the row begins with it. */
export function KeyField({ entry, text, isDisabled, error, onText, onSwitch }: KeyFieldProps): ReactNode {
  const { say, format } = useText();
  const { unitOf } = useKeyHelp();
  const { key, kind, min, max, choices = [], secret } = entry;
  if (kind === 'switch')
    return (
      <>
        <SwitchField
          isSelected={text === 'true'}
          onChange={onSwitch}
          isDisabled={isDisabled}
          aria-label={key}
        >
          {say(text === 'true' ? 'settings.on' : 'settings.off')}
        </SwitchField>
        {error !== null && <span role="alert">{error}</span>}
      </>
    );
  if (kind === 'choice')
    return (
      <SelectField
        label={key}
        isLabelHidden
        value={text}
        choices={choices.map((id) => ({ id, text: id }))}
        onChange={onText}
        isDisabled={isDisabled}
        error={error}
      />
    );
  const range =
    min === undefined
      ? null
      : say('settings.range', { min: format.count(min), max: max === undefined ? '' : format.count(max) });
  const help = kind === 'list' ? say('settings.lines') : [range, unitOf(entry)].filter(Boolean).join(' ');
  return (
    <TextField
      label={key}
      isLabelHidden
      {...(help !== '' && { help })}
      value={text}
      onChange={onText}
      isDisabled={isDisabled}
      error={error}
      isCode
      {...(kind === 'list' && { rows: 3 })}
      {...(kind === 'number' && { inputMode: 'numeric' as const })}
      {...(secret === true && { type: 'password' as const, autoComplete: 'off' })}
    />
  );
}
