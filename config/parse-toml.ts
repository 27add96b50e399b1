/**
 * The only module that imports `toml`: parses a text into a tree of values, and rewrites the parser's errors. It does
 * not interpret the values.
 */
import { parse } from 'toml';
import { isTable } from './config-fault.ts';
import type { ConfigFault } from './config-fault.ts';
import type { LineIndex } from './line-index.ts';

/** Parses the TOML `text` of the file `name`; if it is invalid, the result is an empty tree and an error. */
export function parseToml(
  name: string,
  text: string,
  lines: LineIndex,
  faults: ConfigFault[],
): Record<string, unknown> {
  try {
    const tree: unknown = parse(text);
    return isTable(tree) ? tree : {};
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    faults.push({ source: name, ...tomlFault(error, lines) });
    return {};
  }
}

function tomlFault(error: Error, lines: LineIndex): Omit<ConfigFault, 'source'> {
  const repeated = /Cannot redefine existing key '(.+)'/u.exec(error.message)?.[1];
  const at = placeOf(error);
  if (repeated !== undefined) {
    const first = lines.lineOf(repeated);
    const where = first === undefined ? '' : ` (first on line ${first})`;
    return { line: lines.lineOfRepeat(repeated) ?? at.line, key: repeated, message: `duplicate key${where}` };
  }
  // The message of the parser lists every possible next character; the character that it found is more useful.
  const found = /but (.+) found\.$/su.exec(error.message)?.[1];
  const what = found === undefined ? error.message : `expected valid TOML, got ${found}`;
  const column = at.column === undefined ? '' : ` at column ${at.column}`;
  return { line: at.line, key: 'syntax', message: what + column };
}

/** Position at which the parser stopped. Errors contain it in one of two forms. */
function placeOf(error: Error): { line: number | undefined; column: number | undefined } {
  const direct = error as { line?: unknown; column?: unknown; location?: { start?: unknown } };
  const start = (direct.location?.start ?? direct) as { line?: unknown; column?: unknown };
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  return { line: number(start.line), column: number(start.column) };
}
