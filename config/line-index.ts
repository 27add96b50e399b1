/**
 * Line numbers of the keys in a TOML text, for messages. It does not validate the text. It parses only what is needed
 * to skip values (strings, brackets, comments), so that it also finds most keys in invalid text.
 */

/** Line numbers, starting at 1, by paths such as `server.web_port` and `dns.pools[0].name`. */
export interface LineIndex {
  /** Line of a key or table. If the text does not contain it, the line of the closest enclosing table. */
  lineOf(path: string): number | undefined;
  /** Line of the second definition of a key or table that must be defined only once. */
  lineOfRepeat(path: string): number | undefined;
}

/** Finds every key and table header of `text`. */
export function indexLines(text: string): LineIndex {
  const first = new Map<string, number>();
  const repeat = new Map<string, number>();
  const arrays = new Map<string, number>();
  const note = (path: string, line: number): void => {
    if (!first.has(path)) first.set(path, line);
    else if (!repeat.has(path)) repeat.set(path, line);
  };

  let table = '';
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const header = /[ \t]*(\[\[?)([^\]\n]*)\]/uy;
    const assignment = /[ \t]*((?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^=#"'\n])+)=/uy;
    header.lastIndex = assignment.lastIndex = at;
    const asHeader = header.exec(text);
    const asAssignment = asHeader === null ? assignment.exec(text) : null;
    if (asHeader !== null) {
      table = resolve(keyPath(asHeader[2] ?? ''), arrays, asHeader[1] === '[[');
      note(table, line);
    } else if (asAssignment !== null) {
      const key = keyPath(asAssignment[1] ?? '').join('.');
      note(table === '' ? key : `${table}.${key}`, line);
    }
    const end = endOfStatement(
      text,
      asAssignment === null ? at : assignment.lastIndex,
      asAssignment !== null,
    );
    for (let i = at; i < end; i++) if (text[i] === '\n') line++;
    at = end;
  }
  return {
    lineOf: (path) => nearest(first, path),
    lineOfRepeat: (path) => repeat.get(path),
  };
}

/** Offset after the newline that ends the statement at `from`. A value may span several lines. */
function endOfStatement(text: string, from: number, isValue: boolean): number {
  const token = /"""(?:[^\\]|\\[^])*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n/uy;
  let depth = 0;
  let at = from;
  while (at < text.length) {
    token.lastIndex = at;
    const found = token.exec(text)?.[0];
    at += found?.length ?? 1;
    if (!isValue) {
      if (found === '\n') return at;
    } else if (found === '[' || found === '{') depth++;
    else if (found === ']' || found === '}') depth--;
    else if (found === '\n' && depth <= 0) return at;
  }
  return text.length;
}

/** The parts of a dotted key, without quotes. */
export function keyPath(written: string): string[] {
  const parts = written.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[^.\s"']+/gu) ?? [];
  return parts.map((part) => part.replace(/^(["'])(.*)\1$/u, '$2'));
}

/** Path of a table header. After the name of each array of tables, it contains the index of the entry. */
function resolve(parts: readonly string[], arrays: Map<string, number>, opensEntry: boolean): string {
  let path = '';
  parts.forEach((part, index) => {
    path = path === '' ? part : `${path}.${part}`;
    const isLast = index === parts.length - 1;
    if (isLast && opensEntry) arrays.set(path, (arrays.get(path) ?? -1) + 1);
    const entry = arrays.get(path);
    if (entry !== undefined) path = `${path}[${entry}]`;
  });
  return path;
}

/** The line of `path`, or of the closest enclosing path. */
function nearest(lines: ReadonlyMap<string, number>, path: string): number | undefined {
  for (let at = path; at !== '';) {
    const line = lines.get(at) ?? lines.get(`${at}[0]`);
    if (line !== undefined) return line;
    const cut = Math.max(at.lastIndexOf('.'), at.lastIndexOf('['));
    at = cut < 0 ? '' : at.slice(0, cut);
  }
  return undefined;
}
