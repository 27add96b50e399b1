/** One key: what it does, where its value is from, and the field that changes it. */
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { FILE_ONLY_KEYS } from '../../../../../../shared/policy/file-only-keys.ts';
import { fieldProblem, problemText } from '../../../api/problem-text.ts';
import { useMe } from '../../../api/session.tsx';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Badge } from '../../../ui/display/values.tsx';
import { Confirm } from '../../../ui/overlays/confirm.tsx';
import { changeOf, textOfValue, valueOf, valueOfText } from './config-key.ts';
import type { Config, ConfigKey } from './config-key.ts';
import { useKeyHelp } from './key-help.ts';
import { KeyField } from './key-field.tsx';
import styles from './key-list.module.css';

interface KeyRowProps {
  readonly entry: ConfigKey;
  readonly config: Config;
}

/** The row. */
export function KeyRow({ entry, config }: KeyRowProps): ReactNode {
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

/** Changed elsewhere. */
const FIXED = ['auth.admin.password_hash', ...FILE_ONLY_KEYS];
/** Switched off, anybody could do anything. */
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
    if (await change.run({ body: changeOf(key, next) })) setDraft(null);
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
