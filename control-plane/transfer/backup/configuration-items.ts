/**
 * The configuration of the cluster in a backup: the rows that were set by the API and the initial file. Keys of a node
 * are only in the file for humans to read: addresses, paths and the URL of the database belong to one machine.
 */
import { isNodeKey, isSameValue, isSecret, KEY_NAMES, valuesOf } from '../../../config/layers.ts';
import type { Source, Values } from '../../../config/layers.ts';
import type { Config } from '../../../config/schema.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { type BackupKind, type Item, items } from './backup-kind.ts';

const ROW = items('key text, value jsonb');
const MASK = '***';
/** Maximum length of a value in the list of changes, in characters. */
const SHOWN_LENGTH = 200;
const CLUSTER_KEYS: ReadonlySet<string> = new Set(KEY_NAMES.filter((name) => !isNodeKey(name)));

/** The kind: an item is a key and its value. */
export const configuration: BackupKind = {
  name: 'configuration',
  key: ['key'],
  read: 'SELECT key, value FROM config_values ORDER BY key',
  // Rows of keys that are unknown to this version of Weir are kept.
  complete: (_tx, rows) => Promise.resolve(rows.filter(({ key }) => CLUSTER_KEYS.has(String(key)))),
  put: [
    `INSERT INTO config_values (key, value) SELECT v.key, v.value FROM ${ROW}
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = now()`,
  ],
  remove: [`DELETE FROM config_values c USING ${ROW} WHERE c.key = v.key`],
};

/** Items by key, as in the file. */
export function valuesOfItems(rows: readonly Item[]): Values {
  return Object.fromEntries(rows.map(({ key, value }) => [String(key), value]));
}

/** The reverse of `valuesOfItems`; keys that do not belong to the cluster are errors. */
export function itemsOfValues(values: Values, problems: FieldProblem[]): Item[] {
  for (const key of Object.keys(values))
    if (!CLUSTER_KEYS.has(key))
      problems.push({
        path: `configuration.${key}`,
        message: isNodeKey(key)
          ? 'a key of the node is not restored'
          : 'this version of Weir does not know this key',
      });
  return Object.entries(values).map(([key, value]) => ({ key, value }));
}

/** The current settings with the four keys of a file of version 1. */
export function withDnsSettings(current: readonly Item[], settings: Item): Item[] {
  const given = Object.entries(settings).map(([name, value]) => ({ key: `dns.${name}`, value }));
  const others = current.filter(({ key }) => given.every((one) => one.key !== key));
  return [...others, ...given.filter(({ value }) => value !== null)];
}

/** A value as shown in a file without secrets. */
export function hiddenValue(key: string, value: unknown): unknown {
  if (isSecret(key)) return value === '' ? value : MASK;
  return withoutCredentials(value);
}

function withoutCredentials(value: unknown): unknown {
  if (typeof value === 'string') return shownUrl(value);
  if (Array.isArray(value)) return value.map(withoutCredentials);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutCredentials(inner)]));
}

/** The item with the stored secret if the file contains no secrets; null if it is not stored on this server. */
export function unmaskedValue(item: Item, current: readonly Item[]): Item | null {
  const stored = current.find(({ key }) => key === item['key']);
  const hidden = stored && hiddenValue(String(item['key']), stored['value']);
  if (hidden !== undefined && isSameValue(hidden, item['value'])) return stored!;
  return JSON.stringify(item['value']).includes(MASK) ? null : item;
}

/** The key with its value, or with both values if it changes; secrets are masked. */
export function describeValue({ key, value }: Item, was: Item | undefined): string {
  const name = String(key);
  const shown = (one: unknown): string => {
    const text = JSON.stringify(hiddenValue(name, one));
    return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)} …` : text;
  };
  return was === undefined ? `${name}: ${shown(value)}` : `${name}: ${shown(was['value'])} → ${shown(value)}`;
}

/** Keys of the node that are set, without secrets, for humans to read. */
export function nodeConfiguration(config: Config, sources: Readonly<Record<string, Source>>): Values {
  const found = Object.entries(valuesOf(config)).filter(
    ([name]) => isNodeKey(name) && sources[name] !== 'default',
  );
  return Object.fromEntries(
    found.map(([name, value]) => [name, isSecret(name) ? MASK : withoutCredentials(value)]),
  );
}
