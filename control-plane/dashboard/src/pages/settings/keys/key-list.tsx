/** Keys of the configuration, below the headings of their tables. */
import { RotateCcw, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Card } from '../../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../../ui/display/states.tsx';
import type { Config, ConfigKey } from './config-key.ts';
import styles from './key-list.module.css';
import { useState } from 'react';
import { Link } from 'wouter';
import { FILE_ONLY_KEYS } from '../../../../../../shared/policy/file-only-keys.ts';
import { fieldProblem, problemText } from '../../../api/problem-text.ts';
import { useMe } from '../../../api/session.tsx';
import { useChange } from '../../../api/use-change.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Badge } from '../../../ui/display/values.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { changeOf, textOfValue, valueOf, valueOfText } from './config-key.ts';
import { useKeyHelp } from './key-help.ts';
import { SelectField, SwitchField, TextField } from '../../../ui/controls/fields.tsx';

interface KeyListProps {
  readonly keys: readonly ConfigKey[];
}

/** Keys with their values. A callout above them names the keys that need a restart. */
export function KeyList({ keys }: KeyListProps): ReactNode {
  const { say } = useText();
  const config = useAsk('GET /config', {});
  if (keys.length === 0) return <Empty icon={SearchX} title={say('settings.notFound')} />;
  const tables = Map.groupBy(keys, ({ key }) => key.slice(0, key.lastIndexOf('.')));
  return (
    <Answered of={config} lines={10}>
      {(values) => (
        <>
          {values.restart_required.length > 0 && (
            <Callout tone="warning">
              {say('settings.restart', { keys: values.restart_required.join(', ') })}
            </Callout>
          )}
          {[...tables].map(([table, members]) => (
            <Card key={table} title={`[${table}]`}>
              <ul className={styles['keys']}>
                {members.map((entry) => (
                  <KeyRow key={entry.key} entry={entry} config={values} />
                ))}
              </ul>
            </Card>
          ))}
        </>
      )}
    </Answered>
  );
}

interface KeyRowProps {
  readonly entry: ConfigKey;
  readonly config: Config;
}

function KeyRow({ entry, config }: KeyRowProps): ReactNode {
  const { say } = useText();
  const { textOf, languageOf } = useKeyHelp();
  const { key, restart, secret, default: fallback } = entry;
  const source = config.sources[key] ?? 'default';
  const isWaiting = config.restart_required.includes(key);
  const standard =
    entry.kind === 'switch'
      ? say(fallback === true ? 'settings.on' : 'settings.off')
      : textOfValue(fallback).replaceAll('\n', ', ');
  return (
    <li>
      <div className={styles['about']}>
        <span className={styles['key']}>{key.slice(key.lastIndexOf('.') + 1)}</span>
        <span lang={languageOf(entry)}>{textOf(entry)}</span>
        <span className={styles['quiet']}>
          {secret === true
            ? say('settings.secret')
            : say('settings.default', { value: standard === '' ? say('settings.empty') : standard })}
        </span>
        <span className={styles['badges']}>
          {source !== 'default' && <Badge tone="plain">{say(`settings.source.${source}`)}</Badge>}
          {restart === true && (
            <Badge tone={isWaiting ? 'warning' : 'plain'}>
              {say(isWaiting ? 'settings.waits' : 'settings.needsRestart')}
            </Badge>
          )}
        </span>
      </div>
      {entry.kind === 'table' ? (
        <Link to="/resolving">{say('settings.pools')}</Link>
      ) : (
        <KeyEdit entry={entry} source={source} value={valueOf(config, key)} />
      )}
    </li>
  );
}

interface KeyEditProps {
  readonly entry: ConfigKey;
  readonly source: Config['sources'][string];
  readonly value: unknown;
}

/** Keys that cannot be changed here. */
const FIXED = ['auth.admin.password_hash', ...FILE_ONLY_KEYS];
/** Keys that ask for confirmation before they are disabled, because anyone could then change everything. */
const ASKED = ['auth.enabled'];

function KeyEdit({ entry, source, value }: KeyEditProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const { key, kind } = entry;
  const stored = textOfValue(value);
  const [draft, setDraft] = useState<string | null>(null);
  const [asked, setAsked] = useState<boolean | null>(null);
  const change = useChange('PATCH /config', { done: 'settings.saved', quiet: true });
  const isFixed = !isAdmin || source === 'environment' || FIXED.includes(key);
  const isChanged = draft !== null && draft !== stored;
  const save = async (next: unknown): Promise<void> => {
    if (await change.run({ query: {}, body: changeOf(key, next) })) setDraft(null);
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
          setDraft(text);
        }}
        onSwitch={(isOn) => {
          if (!isOn && ASKED.includes(key)) setAsked(isOn);
          else void save(isOn);
        }}
      />
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
              <Button
                onPress={() => {
                  change.reset();
                  setDraft(null);
                }}
              >
                {say('action.cancel')}
              </Button>
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

/** Control of a key. Only screen readers get its label, because the row begins with the key's name. */
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
