/** `weir config get`: prints the stored configuration. */
import { printableJson } from '../output/printable.ts';
import { Misuse } from '../remote/api-connection.ts';
import type { CommandRun } from './command-run.ts';

/** Prints one key, one section or the whole configuration, as lines of `key = value` or as JSON. */
export async function showConfig({ client, screen, isJson, arguments: [key] }: CommandRun): Promise<0> {
  const { sources: _sources, restart_required: _pending, ...sections } = await client.call('GET /config');
  let found: unknown = sections;
  for (const step of key?.split('.') ?? []) {
    const isTable = typeof found === 'object' && found !== null && Object.hasOwn(found, step);
    if (!isTable) throw new Misuse(`unknown key ${key}`);
    found = (found as Record<string, unknown>)[step];
  }
  if (isJson) screen.out(printableJson(found, 2));
  else for (const line of linesOf(found, key ?? '')) screen.out(line);
  return 0;
}

function linesOf(value: unknown, key: string): string[] {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isTable) return [`${key} = ${printableJson(value)}`];
  return Object.entries(value).flatMap(([name, inner]) =>
    linesOf(inner, key === '' ? name : `${key}.${name}`),
  );
}
