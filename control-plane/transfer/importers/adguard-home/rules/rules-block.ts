/**
 * Extracts the list `user_rules` from a settings file before the rest of the file is parsed as YAML: the list may have
 * hundreds of thousands of rules, and each rule would be a node of a tree in memory. Pure.
 */
import { ImportFault } from '../../files/import-fault.ts';
import { readYaml } from '../../files/read-tree.ts';

const KEY = /^user_rules:[ \t]*\r?$/m;
const ITEM = /^[ \t]*-[ \t]+(.*?)[ \t\r]*$/;
/** A plain scalar that is a string in any schema of YAML. */
const PLAIN = /^[a-z_./][^\s#:'"]*$/i;
const WORDS = /^(?:true|false|yes|no|on|off|null|y|n|[.+-]?(?:inf|nan))$/i;

/** The rules, and the file without them; null if the list is not written with one rule per line. */
export function takeRules(text: string): { readonly rules: string[]; readonly rest: string } | null {
  const key = KEY.exec(text);
  if (key === null) return null;
  const start = key.index + key[0].length + 1;
  const rules: string[] = [];
  let at = start;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    const item = ITEM.exec(line);
    if (item === null && line.trim() !== '' && !/^\s*#/.test(line)) {
      // An indented line continues the previous rule.
      if (/^\s/.test(line)) return null;
      break;
    }
    if (item !== null) {
      const rule = scalarOf(item[1]!);
      if (rule === null) return null;
      rules.push(...rule);
    }
    at = end + 1;
  }
  return { rules, rest: text.slice(0, key.index) + text.slice(at) };
}

/** The text of a scalar; empty for another type, null if the scalar does not end on its line. */
function scalarOf(written: string): string[] | null {
  if (PLAIN.test(written) && !WORDS.test(written)) return [written];
  const single = /^'((?:[^']|'')*)'$/.exec(written);
  if (single !== null) return [single[1]!.replaceAll("''", "'")];
  if (/^[|>&*!{[?]/.test(written)) return null;
  try {
    return readYaml('a rule', Buffer.from(`- ${written}\n`)).texts() ?? [];
  } catch (error) {
    if (error instanceof ImportFault) return null;
    throw error;
  }
}
