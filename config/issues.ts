/**
 * Converts zod's issues to errors in the configuration, with the key, and the expected and the actual value. Schemas of
 * string formats and lists describe what they expect.
 */
import type { z } from 'zod';
import { HIDDEN, describe } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import { NOTES, schemaAt, shapeOf } from './keys.ts';
import type { KeyNotes } from './keys.ts';
import { keys } from './sections.ts';

/** Location of an error: all fields except the message. */
export type Place = Omit<ConfigFault, 'message'>;

/** Options of all parses. `jitless`, because code generation by zod is not worthwhile for three parses. */
export const parsing = { reportInput: true, error: expectedBy, jitless: true } as const;

/** Describes the expected value for schemas without a description. */
function expectedBy(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') {
    const quoted = issue.values.map((value) => JSON.stringify(value));
    return `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
  }
  if (issue.code !== 'invalid_type') return undefined;
  return issue.expected === 'boolean' ? 'true or false' : `a table of settings ([${pathText(issue.path)}])`;
}

/** The errors that a parse has found, in order; empty if it succeeded. */
export function faultsOf(
  { error }: z.ZodSafeParseResult<unknown>,
  place: (path: string) => Place,
): ConfigFault[] {
  return (error?.issues ?? []).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [{ ...place(pathText(issue.path)), message: messageOf(issue) }];
    const known = Object.keys(shapeOf(schemaAt(keys, issue.path)));
    return issue.keys.map((key) => ({
      ...place(pathText([...issue.path, key])),
      message: noSuchKey(key, known),
    }));
  });
}

function messageOf({ code, path, message, input }: z.core.$ZodIssue): string {
  if (code === 'invalid_type' && input === undefined) return 'expected a value (this key has no default)';
  const { unit, secret } = notesAt(path);
  const expected = unit === undefined || code === 'custom' ? message : `${message} (${unit})`;
  return describe(expected, secret === true ? HIDDEN : input);
}

/** Annotations of the key at `path`, or of the key that contains `path`. */
function notesAt(path: readonly PropertyKey[]): Partial<KeyNotes> {
  if (path.length === 0) return {};
  const schema = schemaAt(keys, path);
  return (schema && NOTES.get(schema)) ?? notesAt(path.slice(0, -1));
}

/** A path in the notation for users, such as `dns.pools[0].name`. */
function pathText(path: readonly PropertyKey[] = []): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1);
}

/** Message for an unknown key: suggests the most similar known key, or lists all keys if none is similar. */
function noSuchKey(key: string, known: readonly string[]): string {
  const near = known.filter((one) => editDistance(one, key.toLowerCase()) <= 2);
  return near.length > 0
    ? `no such key; did you mean ${near.join(' or ')}?`
    : `no such key; the keys are ${known.join(', ')}`;
}

/** Levenshtein distance: number of letters to insert, delete or replace. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
