/** Keys of the configuration: the basic keys of a section first, or all keys below the headings of their tables. */
import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../../api/use-ask.ts';
import { useText } from '../../../i18n/text.ts';
import { Disclosure } from '../../../ui/display/disclosure.tsx';
import { Card, Stack } from '../../../ui/display/page.tsx';
import { Answered, Callout, Empty } from '../../../ui/display/states.tsx';
import type { Config, ConfigKey } from './config-key.ts';
import styles from './key-list.module.css';
import { Link } from 'wouter';
import { Badge } from '../../../ui/display/values.tsx';
import { isBasic, textOfValue, valueOf } from './config-key.ts';
import { KeyEdit } from './key-edit.tsx';
import { useKeyHelp } from './key-help.ts';

interface KeyListProps {
  readonly keys: readonly ConfigKey[];
  /** Title of the basic keys; all other keys are collapsed below them. Without a title, all keys are shown. */
  readonly title?: string;
}

/** Keys with their values. A callout above them names the keys that need a restart. */
export function KeyList({ keys, title }: KeyListProps): ReactNode {
  const { say } = useText();
  const config = useAsk('GET /config', {});
  if (keys.length === 0) return <Empty icon={SearchX} title={say('settings.notFound')} />;
  const basic = title === undefined ? [] : keys.filter(isBasic);
  const others = title === undefined ? keys : keys.filter((entry) => !isBasic(entry));
  return (
    <Answered of={config} lines={10}>
      {(values) => (
        <>
          {values.restart_required.length > 0 && (
            <Callout tone="warning">
              {say('settings.restart', { keys: values.restart_required.join(', ') })}
            </Callout>
          )}
          {title !== undefined && <KeyCard title={title} keys={basic} config={values} />}
          {title === undefined ? (
            <Tables keys={others} config={values} />
          ) : (
            others.length > 0 && (
              <Disclosure title={say('settings.expert', { count: others.length })}>
                <Stack>
                  <p className={styles['quiet']}>{say('settings.expert.help')}</p>
                  <Tables keys={others} config={values} />
                </Stack>
              </Disclosure>
            )
          )}
        </>
      )}
    </Answered>
  );
}

interface KeysProps {
  readonly keys: readonly ConfigKey[];
  readonly config: Config;
}

/** A card for each table of the file. */
function Tables({ keys, config }: KeysProps): ReactNode {
  const tables = Map.groupBy(keys, ({ key }) => key.slice(0, key.lastIndexOf('.')));
  return [...tables].map(([table, members]) => (
    <KeyCard key={table} title={`[${table}]`} keys={members} config={config} />
  ));
}

function KeyCard({ title, keys, config }: KeysProps & { readonly title: string }): ReactNode {
  return (
    <Card title={title}>
      <ul className={styles['keys']}>
        {keys.map((entry) => (
          <KeyRow key={entry.key} entry={entry} config={config} />
        ))}
      </ul>
    </Card>
  );
}

interface KeyRowProps {
  readonly entry: ConfigKey;
  readonly config: Config;
}

function KeyRow({ entry, config }: KeyRowProps): ReactNode {
  const { say, format } = useText();
  const { textOf, languageOf } = useKeyHelp();
  const { key, restart, secret, default: fallback } = entry;
  const source = config.sources[key] ?? 'default';
  const isWaiting = config.restart_required.includes(key);
  const standard =
    entry.kind === 'switch'
      ? say(fallback === true ? 'settings.on' : 'settings.off')
      : typeof fallback === 'number' && entry.unit !== undefined
        ? format.count(fallback)
        : textOfValue(fallback).replaceAll('\n', ', ');
  return (
    <li>
      <div className={styles['about']}>
        <span lang={languageOf(entry)}>{textOf(entry)}</span>
        <span className={styles['key']}>{key}</span>
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
