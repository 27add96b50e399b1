/**
 * The configuration: every text is either a configuration or a list of faults, and an edit changes only the given key.
 */
import { isDeepStrictEqual } from 'node:util';
import { readFileSync } from 'node:fs';
import { parse } from 'toml';
import { formatFault } from '../../../config/config-fault.ts';
import { editToml } from '../../../config/edit-toml.ts';
import { indexLines } from '../../../config/line-index.ts';
import { parseConfig } from '../../../config/parse-config.ts';
import { hold, InputReader, octetsOf } from '../target.ts';
import type { Target } from '../target.ts';

const HASH = '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$aGFzaGhhc2hoYXNo';
/** Keys and values that an editor writes. */
const KEYS = [
  ['server', 'web_port'],
  ['dns', 'bootstrap'],
  ['dns', 'rate_limit', 'enabled'],
  ['dns', 'pools'],
  ['auth', 'admin', 'password_hash'],
  ['log', 'level'],
  ['top'],
] as const;
const VALUES: readonly unknown[] = [
  ...[53, true, 'text', 'a "quoted"\\ \u007f\u0000 \u{1f600}\n', [], ['192.0.2.1', '#'], -1.5, '', undefined],
  [{ name: 'a', servers: ['udp://192.0.2.1'] }],
];

type Tree = Record<string, unknown>;

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const path = reader.of(KEYS);
  const value = reader.of(VALUES);
  const isEdit = (reader.octet() & 1) === 1;
  const text = Buffer.from(reader.rest()).toString('utf8');
  if (isEdit) checkEdit(text, path, value);
  else checkParse(text);
}

function checkParse(text: string): void {
  const result = parseConfig({ file: { name: 'f', text }, env: {} });
  const lines = text.split('\n').length;
  if (!result.ok) {
    hold(result.faults.length > 0, 'it fails without a fault');
    for (const fault of result.faults) {
      hold(
        !formatFault(fault).includes('\n') || text.includes('\\n') || /[^\x20-\x7e\n]/u.test(text),
        'a fault has several lines',
      );
      hold(
        fault.line === undefined || (fault.line >= 1 && fault.line <= lines),
        'a fault is outside the file',
      );
    }
  }
  const index = indexLines(text);
  for (const key of ['server', 'dns.pools[0].name', 'dns', 'auth.admin.password_hash']) {
    const line = index.lineOf(key);
    hold(line === undefined || (line >= 1 && line <= lines), 'a key is outside the file');
  }
}

function checkEdit(text: string, path: readonly string[], value: unknown): void {
  const before = treeOf(text);
  const edited = editToml(text, [{ path, value }]);
  if (edited === null) return;
  hold(before !== null, 'a text that is not TOML was edited');
  const after = treeOf(edited);
  hold(after !== null, 'the edited text is no longer TOML');
  const found = path.reduce<unknown>((tree, key) => (tree as Tree | undefined)?.[key], after);
  hold(isDeepStrictEqual(plain(found), plain(value)), 'the key does not have the given value');
  hold(isDeepStrictEqual(without(before, path), without(after, path)), 'other keys changed');
  for (const comment of commentsOf(text, path)) hold(edited.includes(comment.trimEnd()), 'a comment is gone');
  hold(edited === text || editToml(edited, [{ path, value }]) === edited, 'a second edit changes something');
}

/** The tree of a text; null if it is not TOML. */
function treeOf(text: string): Tree | null {
  try {
    return plain(parse(text.replace(/^\ufeff/u, ''))) as Tree;
  } catch {
    return null;
  }
}

/** Tables as plain objects; empty tables count as absent. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** The tree without a key, and without tables that become empty. */
function without(tree: Tree, path: readonly string[]): Tree {
  const [head = '', ...rest] = path;
  const inner = tree[head];
  const others = Object.fromEntries(Object.entries(tree).filter(([key]) => key !== head));
  if (rest.length === 0 || typeof inner !== 'object' || inner === null) return others;
  const left = without(inner as Tree, rest);
  return Object.keys(left).length === 0 ? others : { ...others, [head]: left };
}

/**
 * The comment lines that must survive the deletion of a key: all except lines that show a default of the key, and lines
 * in a table of the key, which may be deleted with it. Empty if the text has multi-line values.
 */
function commentsOf(text: string, path: readonly string[]): string[] {
  if (/"""|'''|[[{]/u.test(text.replaceAll(/^\s*\[\[?[\w.]+\]\]?/gmu, ''))) return [];
  const lines = text.split(/\r?\n/u);
  const own = new RegExp(`^\\s*\\[\\[?${path.join('\\.')}[.\\]]`, 'u');
  const isWithinOwn = (at: number): boolean => {
    const header = lines.slice(0, at).findLast((line) => /^\s*\[/u.test(line)) ?? '';
    const next = lines.slice(at).find((line) => !/^\s*(?:#|$)/u.test(line)) ?? '[';
    return own.test(header) && (!/^\s*\[/u.test(next) || own.test(next));
  };
  const name = path.at(-1)!;
  return lines.filter((line, at) => /^#/u.test(line) && !line.includes(name) && !isWithinOwn(at));
}

const TEXTS = [
  `[server]\nweb_port = 8080 # port\n[dns]\nbootstrap = ["192.0.2.1"]\n\n[[dns.pools]]\nname = "a"\nservers = ["udp://192.0.2.1"]\n`,
  `# head\n[auth.admin]\nusername = "admin"\npassword_hash = "${HASH}"\n[dns.rate_limit]\n#enabled = false\n`,
  `top = 1\ndns.bootstrap = [\n  "192.0.2.1", # one\n]\n[log]\nlevel = 'debug'\nx = """\nlong\n"""\n`,
  `dns = { rate_limit = { enabled = true }, bootstrap = [] }\r\n[server]\r\nweb_port = 0x10\r\n`,
  `[dns]\nquery_timeout_ms = 7\necs = "strip"\nlocal_records = ["a.test A 192.0.2.1"]\nx = 1979-05-27T07:32:00Z\ny = 1e3\nz = inf\n`,
];

/** Configurations, complete and partial. */
export const target: Target = {
  maxLength: 2500,
  isSlow: true,
  seeds: () => {
    const whole = readFileSync(new URL('../../../config/weir.toml', import.meta.url), 'utf8');
    const texts = [...TEXTS, whole.slice(0, 2400)];
    return texts.flatMap((text, i) =>
      [0, 1].map((edit) => octetsOf(String.fromCharCode(i, i * 2, edit) + text)),
    );
  },
  dictionary: [
    '[dns]\n',
    '[[dns.pools]]\n',
    ' = ',
    '"',
    "'",
    '"""',
    "'''",
    '\n',
    '\r\n',
    '# ',
    '{ ',
    ' }',
    '[',
    ']',
    ', ',
    '.',
    '\\u0000',
    'true',
    '__proto__',
    'constructor',
    '\t',
  ],
  run,
};
