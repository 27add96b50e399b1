/**
 * Keys of the configuration that an import offers: as TOML for the configuration file, and as text in a row of the
 * report. Pure.
 */
import { hiddenValue } from '../../backup/configuration-items.ts';
import { type OfferedSetting, valuesOfRows } from '../choices/offered-settings.ts';

/** TOML of these keys, by section, without secrets. Empty if there are none. */
export function configurationText(rows: readonly OfferedSetting[]): string {
  const values = Object.entries(valuesOfRows(rows)).map(
    ([key, value]) => [key, hiddenValue(key, value)] as const,
  );
  const sections = new Map<string, string[]>();
  const tables: string[] = [];
  for (const [key, value] of values) {
    const dot = key.lastIndexOf('.');
    const [section, name] = [key.slice(0, dot), key.slice(dot + 1)];
    if (isTables(value)) tables.push(...value.map((row) => tableText(key, row)));
    else sections.set(section, [...(sections.get(section) ?? []), `${name} = ${valueText(value)}`]);
  }
  const blocks = [...sections].map(([section, lines]) => `[${section}]\n${lines.join('\n')}\n`);
  return [...blocks, ...tables].join('\n');
}

/** New value of a key, for the report; for a pool, its servers. */
export function keyText({ id, key, value }: OfferedSetting): string {
  const hidden = hiddenValue(key, value);
  const isTable = typeof hidden === 'object' && hidden !== null && !Array.isArray(hidden);
  const shown = isTable ? `[[${key}]] ${fieldsText(hidden)}` : `${id} = ${valueText(hidden)}`;
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

function fieldsText(row: object): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} = ${valueText(value)}`)
    .join(', ');
}

function tableText(key: string, row: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(row).map(([name, value]) => `${name} = ${valueText(value)}`);
  return `[[${key}]]\n${lines.join('\n')}\n`;
}

function isTables(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.some((row) => typeof row === 'object' && row !== null);
}

/** Strings in TOML have the same escapes as in JSON, and may not contain DEL. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
