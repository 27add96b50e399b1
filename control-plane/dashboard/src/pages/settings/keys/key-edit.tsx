/** Field of one key of the configuration: its value, and controls to change or reset the value. */
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { FILE_ONLY_KEYS } from '../../../../../../shared/policy/file-only-keys.ts';
import { fieldProblem, problemText } from '../../../api/problem-text.ts';
import { useMe } from '../../../api/session.tsx';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { SelectField, SwitchField, TextField } from '../../../ui/controls/fields.tsx';
import { ChangedElsewhere } from '../../../ui/overlays/changed-elsewhere.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { textOfValue, valueOfText } from './config-key.ts';
import type { Config, ConfigKey } from './config-key.ts';
import { useKeyHelp } from './key-help.ts';
import styles from './key-list.module.css';
import { saveKey } from './save-key.ts';

/** A value that another user saved during this edit, and the value that this user wants to save. */
interface Newer {
  readonly text: string;
  readonly next: unknown;
}

interface KeyEditProps {
  readonly entry: ConfigKey;
  readonly source: Config['sources'][string];
  readonly value: unknown;
}

/** Keys that cannot be changed on this page. */
const FIXED = ['auth.admin.password_hash', ...FILE_ONLY_KEYS];
/** Keys that ask for confirmation before they are disabled, because anyone could then change everything. */
const ASKED = ['auth.enabled'];

/**
 * The field of a key with its buttons. A value that another user saved during the edit is shown before it is replaced.
 */
export function KeyEdit({ entry, source, value }: KeyEditProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { key, kind } = entry;
  const stored = textOfValue(value);
  const [draft, setDraft] = useState<string | null>(null);
  const [asked, setAsked] = useState<boolean | null>(null);
  /** Value at the start of the edit; null if no edit is in progress. */
  const [begun, setBegun] = useState<string | null>(null);
  const [newer, setNewer] = useState<Newer | null>(null);
  const change = useChange('PATCH /config', { done: 'settings.saved', quiet: true });
  const isFixed = !isAdmin || source === 'environment' || FIXED.includes(key);
  const isChanged = draft !== null && draft !== stored;
  const finish = (): void => {
    change.reset();
    setDraft(null);
    setBegun(null);
    setNewer(null);
  };
  const save = async (next: unknown, from = begun ?? stored): Promise<void> => {
    const found = await saveKey(key, { from, next }, change.run);
    if (found === 'saved') finish();
    else if (found !== 'failed') setNewer({ ...found, next });
  };
  const { failure } = change;
  const problem = failure === null ? null : (fieldProblem(failure, key) ?? problemText(failure));
  return (
    <div className={styles['edit']}>
      <KeyField
        entry={entry}
        text={draft ?? stored}
        isDisabled={isFixed || change.isPending}
        error={problem}
        onText={(text) => {
          change.reset();
          if (begun === null) setBegun(stored);
          setDraft(text);
        }}
        onSwitch={(isOn) => {
          if (!isOn && ASKED.includes(key)) setAsked(isOn);
          else void save(isOn);
        }}
      />
      {newer !== null && (
        <ChangedElsewhere
          fields={[{ label: key, mine: textOfValue(newer.next), now: newer.text }]}
          isPending={change.isPending}
          onUse={finish}
          onKeep={() => void save(newer.next, newer.text)}
        />
      )}
      {isAdmin && source === 'environment' && (
        <span className={styles['quiet']}>{say('settings.environment')}</span>
      )}
      {!isFixed && (isChanged || source !== 'default') && (
        <span className={styles['buttons']}>
          {isChanged && kind !== 'switch' && (
            <>
              <Button
                kind="main"
                isPending={change.isPending}
                onPress={() => void save(valueOfText(entry, draft))}
              >
                {say('action.save')}
              </Button>
              <Button onPress={finish}>{say('action.cancel')}</Button>
            </>
          )}
          {!isChanged && (
            <Button kind="quiet" icon={RotateCcw} onPress={() => void save(null)}>
              {say('settings.reset')}
            </Button>
          )}
        </span>
      )}
      <Confirm
        title={say('settings.auth.title')}
        action={say('settings.auth.action')}
        isOpen={asked !== null}
        onConfirm={() => {
          setAsked(null);
          void save(false);
        }}
        onClose={() => setAsked(null)}
      >
        <p>{say('settings.auth.text')}</p>
      </Confirm>
    </div>
  );
}

interface KeyFieldProps {
  readonly entry: ConfigKey;
  readonly text: string;
  readonly isDisabled: boolean;
  readonly error: string | null;
  readonly onText: (text: string) => void;
  readonly onSwitch: (isOn: boolean) => void;
}

/** Control of a key. Its label is only for screen readers, because the row already shows the key's name. */
function KeyField({ entry, text, isDisabled, error, onText, onSwitch }: KeyFieldProps): ReactNode {
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
