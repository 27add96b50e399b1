/**
 * Changes values in the text of a configuration and keeps comments, order, blank lines and style. Several methods are
 * tried, starting with the one that changes least. Each result is parsed, and only accepted if no other value has
 * changed.
 */
import { patch } from '@decimalturn/toml-patch';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'toml';
import { isTable } from './config-fault.ts';
import { indexLines, keyPath } from './line-index.ts';

/** A key with its new value. */
export interface TomlChange {
  readonly path: readonly string[];
  /** A string, a number, a boolean, a list of strings, or a list of tables; undefined removes the key. */
  readonly value: unknown;
}

type Tree = Record<string, unknown>;

/** Sets values in a text; null if the text is not valid TOML or a value cannot be set. */
export function editToml(text: string, changes: readonly TomlChange[]): string | null {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const isCrlf = text.includes('\r\n') && !/(?<!\r)\n|\r(?!\n)/u.test(text);
  let edited: string | null = text.slice(mark.length);
  if (isCrlf) edited = edited.replaceAll('\r\n', '\n');
  for (const change of changes) edited = edited === null ? null : editOne(edited, change);
  return edited === null ? null : mark + (isCrlf ? edited.replaceAll('\n', '\r\n') : edited);
}

function editOne(text: string, change: TomlChange): string | null {
  const before = treeOf(text);
  if (before === null) return null;
  const wanted = withValue(before, change.path, change.value);
  if (wanted === null) return null;
  if (isSame(before, wanted, change.path)) return text;
  const ways = change.value === undefined ? [dropLine] : [replaceOnLine, replaceDefault, addTables, addLine];
  for (const from of new Set([dropTables(text, change), text]))
    for (const way of [unchanged, ...ways, patchTree]) {
      const edited = way(from, change);
      if (edited !== null && isSame(treeOf(edited), wanted, change.path)) return edited;
    }
  return null;
}

/** Parses TOML into plain objects; null if it is invalid. */
function treeOf(text: string): Tree | null {
  try {
    return plain(parse(text)) as Tree;
  } catch {
    return null;
  }
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** Copies a tree and sets a value in it; null if a table would have to replace a value. */
function withValue(tree: Tree, path: readonly string[], value: unknown): Tree | null {
  const [head = '', ...rest] = path;
  if (value === undefined && !(head in tree)) return tree;
  if (rest.length === 0) return value === undefined ? without(tree, head) : { ...tree, [head]: value };
  const below = tree[head] ?? {};
  const inner = isTable(below) ? withValue(below, rest, value) : null;
  return inner === null ? null : { ...tree, [head]: inner };
}

function without(tree: Tree, name: string): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => key !== name));
}

/** Whether two trees are equal. Tables that contain only the key at `path` are ignored. */
function isSame(edited: Tree | null, wanted: Tree, path: readonly string[]): boolean {
  return (
    edited !== null &&
    isDeepStrictEqual(valueAt(edited, path), valueAt(wanted, path)) &&
    isDeepStrictEqual(withoutKey(edited, path), withoutKey(wanted, path))
  );
}

function valueAt(tree: Tree, path: readonly string[]): unknown {
  return path.reduce<unknown>((below, name) => (isTable(below) ? below[name] : undefined), tree);
}

/** Copies a tree without a key, and without enclosing tables that would then be empty. */
function withoutKey(tree: Tree, path: readonly string[]): Tree {
  const [head = '', ...rest] = path;
  const below = tree[head];
  if (rest.length > 0 && !isTable(below)) return tree;
  const left = isTable(below) && rest.length > 0 ? withoutKey(below, rest) : {};
  return Object.keys(left).length === 0 ? without(tree, head) : { ...tree, [head]: left };
}

function unchanged(text: string): string {
  return text;
}

/**
 * If the value of the key is a list of tables: removes the tables that the new value does not contain, each from its
 * header to its last line with content.
 */
function dropTables(text: string, { path, value }: TomlChange): string {
  const key = path.join('.');
  let left = isTables(value) ? value.length : 0;
  let isGone = false;
  let held: string[] = [];
  const kept: string[] = [];
  for (const line of text.split('\n')) {
    const [, name] = /^\s*\[\[?([^\]]*)\]/u.exec(line) ?? [];
    const header = name === undefined ? undefined : keyPath(name).map(quotedDots).join('.');
    if (header === key) isGone = left-- <= 0;
    else if (header !== undefined && !header.startsWith(`${key}.`)) isGone = false;
    if (isGone && isComment(line)) held.push(line);
    else {
      // Comments after the last key of a table are kept, because they belong to the next table.
      if (!isGone || header === key) kept.push(...withoutDoubleBlank(kept, held));
      held = [];
      if (!isGone) kept.push(line);
    }
  }
  return [...kept, ...withoutDoubleBlank(kept, held)].join('\n');
}

/** Escapes dots within a part of a key, because they do not separate parts. */
function quotedDots(part: string): string {
  return part.replaceAll('.', '"."');
}

/** The lines without blank lines at their beginning, if they follow a blank line or are the first lines of the text. */
function withoutDoubleBlank(before: readonly string[], lines: readonly string[]): readonly string[] {
  if ((before.at(-1) ?? '').trim() !== '') return lines;
  const first = lines.findIndex((line) => line.trim() !== '');
  return lines.slice(first === -1 ? lines.length : first);
}

function isComment(line: string): boolean {
  return /^\s*(?:#|$)/u.test(line);
}

/** Removes the line of a key, including the text after the value. */
function dropLine(text: string, { path }: TomlChange): string | null {
  const number = indexLines(text).lineOf(path.join('.'));
  return number === undefined
    ? null
    : text
        .split('\n')
        .toSpliced(number - 1, 1)
        .join('\n');
}

/** Replaces a value that is on the same line as its key, and keeps the text before and after the value. */
function replaceOnLine(text: string, { path, value }: TomlChange): string | null {
  return replaceLine(text, indexLines(text).lineOf(path.join('.')), (line) => {
    const parts =
      /^(\s*[^=#]+=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|\[[^[\]{}#]*\]|[^\s"'#[\]{},]+)(\s*(?:#.*)?)$/u.exec(line);
    return parts === null ? null : `${parts[1]}${valueText(value)}${parts[3]}`;
  });
}

/** Replaces the commented-out line in the key's table that shows the default. */
function replaceDefault(text: string, { path, value }: TomlChange): string | null {
  const { first, end } = linesOfTable(text, path.slice(0, -1));
  const lines = text.split('\n');
  const shown = new RegExp(`^#\\s?${path.at(-1)}\\s*=`, 'u');
  const at = lines.findIndex((line, index) => index >= first && index < end && shown.test(line));
  if (at === -1 || isTables(value)) return null;
  return replaceLine(text, at + 1, (line) => {
    const kept = /^#\s?([^=]+=\s*)/u.exec(line)?.[1] ?? '';
    return kept + valueText(value);
  });
}

/** Adds a key below the last key of its table, with the same indentation. */
function addLine(text: string, { path, value }: TomlChange): string | null {
  const lines = text.split('\n');
  const { first, end } = linesOfTable(text, path.slice(0, -1));
  if (first === lines.length || isTables(value)) return null;
  const last = lines.slice(0, end).findLastIndex((line) => !isComment(line));
  const indent = last < first ? '' : (/^[ \t]*/u.exec(lines[last] ?? '')?.[0] ?? '');
  return lines.toSpliced(last + 1, 0, `${indent}${path.at(-1)} = ${valueText(value)}`).join('\n');
}

/** Adds the tables of a new list at the end of their parent table, before nested tables. */
function addTables(text: string, { path, value }: TomlChange): string | null {
  if (!isTables(value)) return null;
  const blocks = value.map((table) => {
    const keys = Object.entries(table).map(([name, inner]) => `${name} = ${valueText(inner)}`);
    return [`[[${path.join('.')}]]`, ...keys, ''].join('\n');
  });
  const lines = text.split('\n');
  const { end } = linesOfTable(text, path.slice(0, -1));
  const before = lines.slice(0, end).join('\n').trimEnd();
  const opened = before === '' ? '' : `${before}\n\n`;
  return opened + [...blocks, ...lines.slice(end)].join('\n');
}

/** Handles all other cases with the TOML package, which supports the whole grammar. */
function patchTree(text: string, { path, value }: TomlChange): string | null {
  const tree = withValue(treeOf(text) ?? {}, path, value);
  // The package would unify mixed line endings and print a warning, so CRLF is replaced before, and the original line
  // endings are restored after that.
  const alike = text.replaceAll('\r\n', '\n');
  try {
    if (tree === null) return null;
    return withLostComments(withOldBlanks(patch(alike, tree, { bracketSpacing: false }), text), text);
  } catch {
    return null;
  }
}

/** Restores lines in which the package changed only white space, such as tabs. */
function withOldBlanks(text: string, before: string): string {
  const lines = text.split('\n');
  const oldLines = before.split('\n');
  const [kept, known] = [new Set(lines), new Set(oldLines)];
  const lost = oldLines.filter((line) => !kept.has(line));
  const byText = Map.groupBy(lost, withoutBlanks);
  return lines
    .map((line) => (known.has(line) ? line : (byText.get(withoutBlanks(line))?.shift() ?? line)))
    .join('\n');
}

/** Appends comments that the TOML package has removed together with the lines above them. */
function withLostComments(text: string, before: string): string {
  // A line that looks like a comment may be part of a multi-line string.
  if (/"""|'''/u.test(before)) return text;
  const kept = Map.groupBy(text.split('\n'), withoutBlanks);
  const comments = before.split('\n').filter((line) => /^\s*#/u.test(line));
  const lost = comments.filter((line) => kept.get(withoutBlanks(line))?.pop() === undefined);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return lost.length === 0 ? text : `${text}${end}${lost.join('\n')}\n`;
}

function withoutBlanks(line: string): string {
  return line.replaceAll(/\s/gu, '');
}

function replaceLine(
  text: string,
  number: number | undefined,
  replace: (line: string) => string | null,
): string | null {
  if (number === undefined) return null;
  const lines = text.split('\n');
  const line = replace(lines[number - 1] ?? '');
  return line === null ? null : lines.with(number - 1, line).join('\n');
}

/**
 * Range of line indexes of a table, without its header. For the root table, which has no header: the lines before the
 * first header.
 */
function linesOfTable(text: string, path: readonly string[]): { first: number; end: number } {
  const lines = text.split('\n');
  const isHeader = (line: string): boolean => /^\s*\[.*\]\s*(?:#.*)?$/u.test(line);
  const header = new RegExp(`^\\s*\\[\\s*${path.join('\\s*\\.\\s*')}\\s*\\]`, 'u');
  const first = lines.findIndex((line) => header.test(line)) + 1;
  if (first === 0) return { first: lines.length, end: lines.length };
  const length = lines.slice(first).findIndex(isHeader);
  return { first, end: length === -1 ? lines.length : first + length };
}

function isTables(value: unknown): value is readonly Tree[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}

/**
 * Formats a value as TOML. Strings are written as in JSON, because its escapes are valid in TOML; DEL is escaped in
 * addition.
 */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007F', '\\u007F');
}
