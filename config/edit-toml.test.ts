import { readFileSync } from 'node:fs';
import { describe, expect, jest, test } from '@jest/globals';
import { parse } from 'toml';
import fc from '../test/support/parts/fast-check.ts';
import { editToml } from './edit-toml.ts';
import type { TomlChange } from './edit-toml.ts';

const weir = readFileSync(new URL('./weir.toml', import.meta.url), 'utf8');
const POOLS = [
  { name: 'a', strategy: 'Failover', priority: 1, servers: ['udp://192.0.2.1', 'tls://dns.example.org'] },
  { name: 'b', servers: ['192.0.2.2'] },
];

function edit(text: string, values: Record<string, unknown>): string | null {
  return editToml(
    text,
    Object.entries(values).map(([path, value]) => ({ path: path.split('.'), value })),
  );
}

/** Lines that are only in one of two texts: `-` marks lines of the first text, `+` lines of the second. */
function difference(before: string, after: string): string[] {
  const rest = after.split('\n');
  const gone = before.split('\n').filter((line) => {
    const at = rest.indexOf(line);
    if (at === -1) return true;
    rest.splice(at, 1);
    return false;
  });
  return [...gone.map((line) => `-${line}`), ...rest.map((line) => `+${line}`)].filter(
    (line) => line.length > 1,
  );
}

describe('editToml()', () => {
  test('writes a key on the line of the comment that shows its default', () => {
    const values = { 'server.web_port': 99, 'dns.rate_limit.enabled': true, 'dns.bootstrap': ['192.0.2.9'] };
    expect(difference(weir, edit(weir, values)!)).toEqual([
      '-#web_port = 8080',
      '-#bootstrap = ["1.1.1.1", "8.8.8.8", "9.9.9.9"]',
      '-#enabled = false',
      '+web_port = 99',
      '+bootstrap = ["192.0.2.9"]',
      '+enabled = true',
    ]);
  });

  test('removes keys whose values are on one line, on several lines or in tables, and ignores keys that are not set', () => {
    const before = `# head
[dns] # names
query_timeout_ms = 7 # slow
bootstrap = [
  "192.0.2.9", # one
]
rate_limit.enabled = true
# stays
ecs = "strip"

[[dns.pools]]
name = "a"
servers = ["192.0.2.1"]
`;
    const gone = ['query_timeout_ms', 'bootstrap', 'rate_limit.enabled', 'pools', 'local_domain'];
    const after = edit(before, Object.fromEntries(gone.map((name) => [`dns.${name}`, undefined])))!;
    expect(parse(after)).toEqual({ dns: expect.objectContaining({ ecs: 'strip' }) });
    expect(after).not.toMatch(/query_timeout|bootstrap|enabled|pools/u);
    for (const kept of ['# head', '[dns] # names', '# stays']) expect(after).toContain(kept);
  });

  test('adds upstream pools as tables after the keys of their section', () => {
    const after = edit(weir, { 'dns.pools': POOLS })!;
    expect(difference(weir, after).filter((line) => line.startsWith('-'))).toEqual([]);
    expect((parse(after) as { dns: unknown }).dns).toEqual({
      pools: POOLS,
      health_check: {},
      rate_limit: {},
    });
    expect(after).toContain('\n[[dns.pools]]\nname = "b"\nservers = ["192.0.2.2"]\n\n[dns.health_check]\n');
  });

  test('keeps comments inside and around the values that it replaces', () => {
    const before = `# head
[dns]
x = 1 # of x

# pool one
[[dns.pools]]
name = "a" # of a
servers = [
  "udp://192.0.2.8", # one
  # two is next
  "udp://192.0.2.9",
]

[cache] # of cache
\tmin = 3 # of min
# the end
`;
    const after = edit(before, {
      'dns.x': 2,
      'dns.y': 'new',
      'cache.min': 4,
      'cache.max': 5,
      'dns.pools': [{ name: 'a', servers: ['udp://192.0.2.7', 'udp://192.0.2.9', 'tls://x.example'] }],
    })!;
    expect(after).toBe(
      before
        .replace('x = 1', 'x = 2')
        .replace('# of x\n', '# of x\ny = "new"\n')
        .replace('min = 3 # of min\n', 'min = 4 # of min\n\tmax = 5\n')
        .replace('192.0.2.8', '192.0.2.7')
        .replace('9",\n', '9",\n  "tls://x.example",\n'),
    );
  });

  test('keeps mixed line endings without a warning', () => {
    const warn = jest.spyOn(console, 'warn');
    const before = '# one\r\n[dns]\nbootstrap = [\r\n  "192.0.2.1", # of it\n]\r\n# end\n';
    const after = edit(before, { 'dns.bootstrap': ['192.0.2.1', '192.0.2.2'] });
    expect(after).toBe(before.replace(', # of it\n', ', # of it\n  "192.0.2.2",\n'));
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test.each([
    ['dotted keys', 'dns.a = 1 # x\ndns.rate_limit.enabled = false # y\nserver.web_port = 1\n'],
    ['an inline table', 'dns = { a = 1, rate_limit = { enabled = false } } # c\n'],
    ['spaces and tabs', '[ dns ]\n  a   =   1   # c\n[ dns . rate_limit ]\n\tenabled\t=\tfalse\n'],
    ['quoted keys', '["dns"]\n"a" = 1 \n\'b\' = 2\n[dns."rate_limit"]\nenabled = false'],
    ['no line end in its last line', '[dns]\na = 1'],
    ['nothing', ''],
    ['comments only', '# a\n\n# b\n'],
    ['a string that looks like keys', '[dns]\na = """\n[server]\n#b = 2\nweb_port = 7\n"""\n'],
    ['a multi-line literal string', "[dns]\na = '''\nx'''\nb = [\n 1, # one\n]\n"],
    ['other notations of numbers', '[dns]\na = 0x10\nb = 1_000 # k\n'],
    ['a table after its subtables', '[dns.rate_limit]\nenabled = false\n[dns]\na = 1\n'],
  ])('changes only the given values in a text with %s', (_what, text) => {
    const values = {
      'dns.a': 5,
      'dns.rate_limit.enabled': true,
      'server.web_port': 2,
      'dns.b': 'q"\\\u007F',
    };
    for (const ending of ['\n', '\r\n'] as const) {
      const before = text.replaceAll('\n', ending);
      const after = edit(before, values);
      const was = parse(before) as Record<string, Record<string, unknown>>;
      expect(parse(after!)).toEqual({
        ...was,
        dns: { ...was['dns'], a: 5, b: 'q"\\\u007F', rate_limit: { enabled: true } },
        server: { ...was['server'], web_port: 2 },
      });
      if (ending === '\r\n' && text.includes('\n')) expect(after).not.toMatch(/[^\r]\n/);
      const comments = before.match(/# .*/gu) ?? [];
      for (const comment of comments) expect(after).toContain(comment.trimEnd());
    }
  });

  test('keeps two comments that differ only in white space', () => {
    expect(edit('#1\n\t# 1', { 'server.web_port': 53 })).toContain('#1\n\t# 1');
  });

  test('removes all tables of an array and keeps the comment above the next table', () => {
    const [first, second] = ['a', 'b'].map((name) => `[[dns.pools]]\n# mine\nname = "${name}"\n\n`);
    const rest = '# of the cache\n[dns.cache]\nx = 1\n';
    expect(edit(first! + second! + rest, { 'dns.pools': [{ name: 'c' }] })).toBe(
      first!.replace('"a"', '"c"') + rest,
    );
    expect(edit(first! + second! + rest, { 'dns.pools': undefined })).toBe(rest);
    expect(edit('[dns]\ny = 1\n' + first! + rest, { 'dns.pools': [] })).toBe(
      '[dns]\ny = 1\npools = []\n\n' + rest,
    );
  });

  test('removes a table that exists only because of [[dns.pools]], and keeps the comment at the end of the file', () => {
    expect(edit('[[dns.pools]]\nname = "a"\n\n# about nothing', { 'dns.pools': undefined })).toBe(
      '# about nothing',
    );
    expect(edit('[a]\nb = 1\n[[dns.pools]]\n# end\n', { 'dns.pools': undefined })).toBe(
      '[a]\nb = 1\n# end\n',
    );
  });

  test('moves to the end of the file a comment that is below removed tables', () => {
    expect(edit('[[dns.pools.s]]\n# end', { 'dns.pools': undefined })).toContain('# end');
    expect(edit('[[dns.pools.s]]\n# 1\n[a]\nb = 1\n# 2', { 'dns.pools': undefined })).toMatch(
      /\[a\]\nb = 1\n# 2\n# 1\n$/,
    );
  });

  test('keeps a byte order mark', () => {
    expect(edit('\uFEFF[dns]\na = 1\n', { 'dns.a': 2 })).toBe('\uFEFF[dns]\na = 2\n');
  });

  test('keeps a table whose name contains a dot, and removes an empty table', () => {
    const text = 'x = 1\n[S]\n["dns.pools"]\n';
    expect(edit(text, { 'dns.pools': undefined })).toBe(text);
    expect(edit(`${text}[[dns.pools]]\nname = "a"\n`, { 'dns.pools': undefined })).toBe(text);
    expect(parse(edit('[dns.pools.U]\n', { 'dns.pools': undefined })!)).not.toHaveProperty('dns.pools');
  });

  test('returns a text unchanged if it already has the given values', () => {
    const text = 'x = """\n[dns.pools]"""\n[[dns.pools]]\nname = "a"\nlong = [\n  1,\n  2]\n';
    expect(edit(text, { 'dns.pools': [{ name: 'a', long: [1, 2] }] })).toBe(text);
  });

  test('refuses invalid TOML, and a text that gives a plain value to a section', () => {
    expect(edit('[dns\na = 1', { 'dns.a': 2 })).toBeNull();
    expect(edit('dns = 1\n', { 'dns.a': 2 })).toBeNull();
    expect(edit('a = 1\r\r\n', { a: 2 })).toBeNull();
  });

  test('changes only the lines of the changed key, for generated files and changes', () => {
    const name = fc.constantFrom('alpha', 'beta', 'gamma_2', 'delta');
    const value = fc.oneof(fc.integer(), fc.boolean(), fc.string(), fc.array(fc.string(), { maxLength: 3 }));
    const line = fc.oneof(
      fc.tuple(name, value).map(([key, inner]) => ({ key, text: `${key} = ${JSON.stringify(inner)}` })),
      fc.constantFrom('# words', '#alpha = 1', '', '  # beta = 2').map((text) => ({ key: null, text })),
    );
    const table = fc.uniqueArray(line, { selector: ({ key, text }) => key ?? `${text}${Math.random()}` });
    const file = fc
      .array(table, { maxLength: 3 })
      .map((tables) =>
        tables.map((lines, at) => [`[t${at}]`, ...lines.map(({ text }) => text)].join('\n')).join('\n'),
      );
    const change: fc.Arbitrary<TomlChange> = fc
      .tuple(fc.constantFrom('t0', 't1', 'u'), name, value)
      .map(([section, key, inner]) => ({ path: [section, key], value: inner }));
    fc.assert(
      fc.property(file, change, (before, wanted) => {
        const after = editToml(before, [wanted]);
        const [section = '', key = ''] = wanted.path;
        const was = parse(before) as Record<string, object>;
        expect(parse(after!)).toEqual({ ...was, [section]: { ...was[section], [key]: wanted.value } });
        const lines = difference(before, after!);
        const isOwn = (text: string): boolean => text.replace(/^[-+]#?/u, '').startsWith(`${key} =`);
        expect(lines.filter((text) => !isOwn(text) && text !== `+[${section}]`)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
