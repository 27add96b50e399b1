/**
 * The keys of a plan that live in the configuration, as TOML for its file. They are not applied: this is the place where
 * a change of the configuration over the API would be asked for. Pure.
 */
import type { PlannedKey } from '../plan/import-plan.ts';

/** TOML of all keys, by section; a key that is given twice has its last value. Empty if there are no keys. */
export function configurationText(keys: readonly PlannedKey[]): string {
  const values = new Map(keys.map(({ key, value }) => [key, value]));
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

/** What a key would be set to, for the report. */
export function keyText({ key, value }: PlannedKey): string {
  const shown = isTables(value) ? `${value.length} of [[${key}]]` : `${key} = ${valueText(value)}`;
  return `set in the configuration: ${shown.slice(0, 200)}`;
}

function tableText(key: string, row: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(row).map(([name, value]) => `${name} = ${valueText(value)}`);
  return `[[${key}]]\n${lines.join('\n')}\n`;
}

function isTables(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.some((row) => typeof row === 'object' && row !== null);
}

/** Strings of TOML have the escapes of JSON, and may not hold DEL. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
