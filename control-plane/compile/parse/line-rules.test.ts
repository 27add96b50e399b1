/** Lines as ListParser cuts them: more than a name, or of other servers' configuration, in the odd forms lists have. */
import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import type { BadFilter, SpecialLine } from './adblock-rule.ts';
import type { ListReading } from './line-rules.ts';
import type { ListStatistics } from './list-statistics.ts';
import { ListParser } from './parse-list.ts';
import { SpecialRuleSet } from '../table/special-rule-set.ts';

const KIND_NAMES = new Map<number, string>(Object.entries(RuleKind).map(([name, bit]) => [bit, name]));

interface Parsed extends ListStatistics {
  readonly names: string[];
  readonly special: SpecialLine[];
  readonly specialLines: number[];
  readonly badFilters: BadFilter[];
}

function parse(text: string, reading: ListReading = { kind: 'block', subdomains: false }): Parsed {
  const names: string[] = [];
  const special: SpecialLine[] = [];
  const specialLines: number[] = [];
  const badFilters: BadFilter[] = [];
  const rules = new SpecialRuleSet();
  const parser = new ListParser(
    reading,
    (bytes, start, end, kind) => {
      const name = Buffer.from(bytes.subarray(start, end)).toString('latin1').toLowerCase();
      names.push(`${KIND_NAMES.get(kind)} ${name}`);
    },
    {
      special: (rule, line) => {
        const refused = rules.add({ ...rule, source: 0, line });
        if (refused !== null) return { invalid: true, reason: refused };
        special.push(rule);
        specialLines.push(line);
        return null;
      },
      badFilter: (badFilter) => badFilters.push(badFilter) > 0,
    },
  );
  parser.push(Buffer.from(text));
  return { ...parser.end(), names, special, specialLines, badFilters };
}

describe('LineRules', () => {
  test.each([
    ['||example.com^$important', 'IMPORTANT_BLOCK_SUFFIX example.com'],
    ['@@||example.com^$important', 'IMPORTANT_ALLOW_SUFFIX example.com'],
    ['@@||example.com^|', 'ALLOW_SUFFIX example.com'],
    ['||*.example^', 'BLOCK_BELOW example'],
    ['*.example^', 'BLOCK_BELOW example'],
    ['.example.com^', 'BLOCK_BELOW example.com'],
    ['|example.com^', 'BLOCK_EXACT example.com'],
    ['|example.com|', 'BLOCK_EXACT example.com'],
    ['@@|example.com^', 'ALLOW_EXACT example.com'],
    ['@@example.com', 'ALLOW_EXACT example.com'],
    ['://example.com^', 'BLOCK_EXACT example.com'],
    ['|https://example.com^', 'BLOCK_EXACT example.com'],
    ['||EXAMPLE.com^*', 'BLOCK_SUFFIX example.com'],
    ['||exämple.com^$important', 'IMPORTANT_BLOCK_SUFFIX xn--exmple-cua.com'],
    ['address=/example.com/#', 'BLOCK_SUFFIX example.com'],
    ['address=/example.com/0.0.0.0', 'BLOCK_SUFFIX example.com'],
    ['address=/.example.com/', 'BLOCK_SUFFIX example.com'],
    ['local=/example.com/', 'BLOCK_SUFFIX example.com'],
    ['server=/example.com/', 'BLOCK_SUFFIX example.com'],
    ['server=/example.com/127.0.0.1 # why', 'BLOCK_SUFFIX example.com'],
    ['local-zone: "example.com." always_null', 'BLOCK_SUFFIX example.com'],
    ['local-zone: "example.com" always_nxdomain', 'BLOCK_SUFFIX example.com'],
    ['local-data: "example.com A 0.0.0.0"', 'BLOCK_EXACT example.com'],
    ['example.com CNAME .', 'BLOCK_EXACT example.com'],
    ['example.com\t60\tIN\tCNAME\t*.', 'BLOCK_EXACT example.com'],
    ['*.example.com CNAME . ; all below', 'BLOCK_BELOW example.com'],
    ['example.com CNAME rpz-passthru.', 'ALLOW_EXACT example.com'],
    ['*.example.com CNAME rpz-passthru.', 'ALLOW_BELOW example.com'],
    ['example.com A 0.0.0.0', 'BLOCK_EXACT example.com'],
  ])('reads %s as a name', (line, rule) => {
    const { names, special, invalidLines, skippedLines } = parse(`${line}\n`);
    expect(names).toEqual([rule]);
    expect({ special, invalidLines, skippedLines }).toEqual({
      special: [],
      invalidLines: 0,
      skippedLines: 0,
    });
  });

  test.each([
    ['||ads*.example.com^', { match: 'pattern', text: '||ads*.example.com^' }],
    ['||example.', { match: 'pattern', text: '||example.' }],
    ['|ads.', { match: 'pattern', text: '|ads.' }],
    ['-banner-', { match: 'pattern', text: '-banner-' }],
    ['*example.com', { match: 'pattern', text: '*example.com' }],
    ['://ads.', { match: 'pattern', text: '|ads.' }],
    ['/^ads[0-9]+\\./', { match: 'regex', text: '^ads[0-9]+\\.' }],
    ['@@/^ads\\D/', { match: 'regex', text: '^ads\\D', kind: RuleKind.ALLOW_SUFFIX }],
    ['/^ads[ #!;]x/', { match: 'regex', text: '^ads[ #!;]x' }],
    ['@@/^ads[ #!;]x/', { match: 'regex', text: '^ads[ #!;]x' }],
    ['|example.com^$important', { match: 'exact', kind: RuleKind.IMPORTANT_BLOCK_SUFFIX }],
    ['||example.com^$dnstype=A|AAAA', { match: 'suffix', text: 'example.com', types: [1, 28] }],
    ['||example.com^$dnstype=~CNAME', { match: 'suffix', exceptTypes: [5] }],
    ['||example.com.^$dnstype=~CNAME', { match: 'suffix', text: 'example.com' }],
    ['||*.example^$denyallow=a.example|b.example', { match: 'below', denyallow: ['a.example', 'b.example'] }],
    ['||example.com^$client=192.0.2.0/24', { clients: [{ address: expect.any(String), bits: 120 }] }],
    ['||example.com^$client=Laptop', { clientNames: ['laptop'] }],
    [
      '||example.com^$client=~02:00:5E:10:00:01|~0200.5e10.0001',
      { exceptClientNames: ['02:00:5e:10:00:01', '02:00:5e:10:00:01'] },
    ],
    [
      `||example.com^$client='Frank\\'s\\, \\| new'|"TV 2",dnstype=A`,
      { clientNames: ["frank's, | new", 'tv 2'], types: [1] },
    ],
    ['||example.com^$client=~2001:db8::1', { exceptClients: [{ address: expect.any(String), bits: 128 }] }],
    ['||example.com^$dnsrewrite=NXDOMAIN', { rewrite: { rcode: 3, ipv4: [], ipv6: [] } }],
    ['||example.com^$dnsrewrite=REFUSED', { rewrite: { rcode: 5, ipv4: [], ipv6: [] } }],
    ['||example.com^$dnsrewrite=192.0.2.7', { rewrite: { rcode: 0, ipv4: ['192.0.2.7'], ipv6: [] } }],
    [
      '||example.com^$dnsrewrite=NOERROR;AAAA;2001:db8::7',
      { rewrite: { rcode: 0, ipv4: [], ipv6: ['2001:db8::7'] } },
    ],
    [
      `||example.com^$dnsrewrite=NOERROR;TXT;${'é'.repeat(512)}`,
      { rewrite: { rcode: 0, ipv4: [], ipv6: [], txt: 'é'.repeat(512) } },
    ],
  ])('reads %s as a special rule', (line, rule) => {
    const parsed = parse(`! heading\n${line}\n`);
    expect(parsed.special).toEqual([expect.objectContaining(rule)]);
    expect(parsed.specialLines).toEqual([2]);
    expect(parsed).toMatchObject({ names: [], invalidLines: 0, skippedLines: 0, rules: 1 });
  });

  test.each([
    ['||actor^$doc', 'modifier is not supported: $doc'],
    ['||example.com^$third-party,important', 'modifier is not supported: $third-party'],
    ['||example.com^$ctag=device_tv', 'modifier is not supported: $ctag'],
    ['||example.com^$dnstype=NOPE', '$dnstype with an unknown type: NOPE'],
    [
      '||example.com^$client=192.0.2.300',
      '$client with something that is no address or network: 192.0.2.300',
    ],
    [
      '||example.com^$client=192.0.2.0/33',
      '$client with something that is no address or network: 192.0.2.0/33',
    ],
    [
      '||example.com^$client=02:00:5e:10:00',
      '$client with something that is no address or network: 02:00:5e:10:00',
    ],
    ['||example.com^$client=', '$client with something that is no name: '],
    [
      '||example.com^$dnsrewrite=two words',
      '$dnsrewrite to something that is no response code, address or host name',
    ],
    ['||example.com^$dnsrewrite=NOERROR;CNAME;192.0.2.1', '$dnsrewrite whose data does not fit its type'],
    [
      '||example.com^$dnsrewrite=NOERROR;MX;10 a.example',
      '$dnsrewrite to a record of this type is not supported: MX',
    ],
    ['@@||example.com^$dnsrewrite=NXDOMAIN', 'exception with $dnsrewrite is not supported'],
    ['||example.com/ads^', 'URL or path: a DNS server sees names only'],
    ['/^https?:\\/\\/example/', 'regular expression for whole URLs'],
    ['||a*^', 'pattern too short: it would match nearly everything'],
    ['example.com##.ad', 'cosmetic rule'],
    ['address=/example.com/192.0.2.1', 'an answer with a real address: no block'],
    ['server=/example.com/192.0.2.1', 'forwarding to a server: no block'],
    ['server=/example.com/#', 'forwarding to a server: no block'],
    ['address=/#/0.0.0.0', 'a rule for every name is not taken'],
    ['local-zone: "example.com" transparent', 'a zone that is answered as usual: no block'],
    ['local-zone: "." refuse', 'a rule for every name is not taken'],
    ['example.com CNAME elsewhere.example.', 'RPZ rewriting is not supported'],
    ['32.1.2.0.192.rpz-nsip CNAME .', 'RPZ trigger that is neither a name nor an address of the answer'],
    ['0.0.0.0.0.rpz-ip CNAME .', 'a rule for every address is not taken'],
    ['bogus-nxdomain=::/0', 'a rule for every address is not taken'],
    ['bogus-nxdomain=0.0.0.0', 'an address that means "block": nothing to judge answers by'],
    ['192.0.2.0/24/x', 'URL or path: a DNS server sees names only'],
  ])('skips %s: %s', (line, reason) => {
    const parsed = parse(`${line}\nexample.net\n`);
    expect(parsed.names).toEqual(['BLOCK_EXACT example.net']);
    expect(parsed.special).toEqual([]);
    expect(parsed.skippedSamples).toEqual([{ line: 1, reason, text: line }]);
  });

  test('skips a TXT record that is longer than a reply over UDP', () => {
    const parsed = parse(`||example.com^$dnsrewrite=NOERROR;TXT;${'é'.repeat(513)}\n`);
    expect(parsed.special).toEqual([]);
    expect(parsed.skippedSamples).toMatchObject([
      { line: 1, reason: '$dnsrewrite to a TXT record of more than 1024 bytes' },
    ]);
  });

  test.each([
    '^(.+[_.-])?amp(project)?\\.',
    '(^|\\.)ads\\.example\\.com$',
    '^ad([sxv]?[0-9]*|system)[_.-]([^.[:space:]]+\\.){1,}|[_.-]ad([sxv]?[0-9]*|system)[_.-]',
    '^[a-rt-z][a-z]{10,14}$',
    'ads?[0-9]+\\.example',
    '(pixel|count)s?[-.]',
  ])('reads the bare expression %s', (line) => {
    const parsed = parse(`# heading\n${line}  # why\n`);
    expect(parsed.special).toEqual([expect.objectContaining({ match: 'regex', text: line, rule: line })]);
    expect(parsed).toMatchObject({
      format: 'regex',
      rules: 1,
      textRules: 1,
      invalidLines: 0,
      skippedLines: 0,
    });
  });

  test('counts patterns and expressions as text rules, and no name with a condition', () => {
    expect(parse('||ads.example^$dnstype=A\n||*.ads.example^$dnstype=A\n').textRules).toBe(0);
    expect(parse('||ads*track^\n')).toMatchObject({ rules: 1, wildcardRules: 1, textRules: 1 });
    expect(parse('/^ads[0-9]/\n')).toMatchObject({ rules: 1, wildcardRules: 1, textRules: 1 });
    expect(parse('|ads.example^$dnstype=A\n')).toMatchObject({ rules: 1, wildcardRules: 0, textRules: 0 });
  });

  test.each(['(c) 2026 somebody', 'see [this](page)', 'a (b) c', '[broken'])(
    'takes the prose "%s" for no expression',
    (line) => {
      expect(parse(`${line}\nexample.net\n`)).toMatchObject({ special: [], invalidLines: 1 });
    },
  );

  test('refuses regular expressions that are not linear-time, with the reason', () => {
    const { invalidSamples, invalidLines } = parse('/(?=a)b/\n/(a)\\1/\n^a(?!b)\\.\nexample.net\n');
    expect(invalidLines).toBe(3);
    expect(invalidSamples.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^regular expression: .*\(\?=/),
      expect.stringMatching(/^regular expression: .*\\1/),
      expect.stringMatching(/^regular expression: .*\(\?!/),
    ]);
  });

  test('reads a zone whose SOA is spread over lines with comments', () => {
    const zone = `$TTL 30
@ SOA localhost. root.localhost. (
    1 ; serial )
    2 3 4 5 )
  NS  localhost.
@ IN NS localhost.
a.example CNAME .
*.a.example CNAME .
`;
    const parsed = parse(zone);
    expect(parsed.names).toEqual(['BLOCK_EXACT a.example', 'BLOCK_BELOW a.example']);
    expect(parsed).toMatchObject({ format: 'rpz', invalidLines: 0, skippedLines: 0 });
  });

  test('takes no prose for an address record', () => {
    expect(parse('not a rule\nexample.net\n')).toMatchObject({ invalidLines: 1, skippedLines: 0 });
  });

  test('does not let an open parenthesis swallow a list', () => {
    const parsed = parse(`@ SOA a. b. (\n${'x\n'.repeat(20)}example.net\n`);
    expect(parsed.names).toEqual(['BLOCK_EXACT example.net']);
  });

  test('reads lines of 64 KiB of any one sign, in any place of a rule, in linear time', () => {
    const signs = ['a', '.', '*', '|', '^', ' ', '/', '$', ',', '#', '(', '-', '~', '=', ';', '0', 'é'];
    const frames = [
      '%',
      '||%',
      '||a%x',
      '||a.example^%x',
      '/%/',
      'address=/%/x y',
      'a.example %',
      '@@%|x',
      '.%|é',
      'local-zone: %x',
    ];
    for (const sign of signs) {
      const text = frames.map((frame) => frame.replace('%', () => sign.repeat(30_000))).join('\n');
      expect(parse(`${text}\nexample.net\n`).names).toContain('BLOCK_EXACT example.net');
    }
  });

  test.each([
    ['32.1.2.0.192.rpz-ip CNAME .', '192.0.2.1'],
    ['24.0.2.0.192.rpz-ip CNAME *.', '192.0.2.0/24'],
    ['24.0.2.0.192.rpz-ip.zone.example. 60 IN CNAME rpz-drop.', '192.0.2.0/24'],
    ['8.0.0.0.10.RPZ-IP\tIN\tA\t0.0.0.0', '10.0.0.0/8'],
    ['1.0.218.230.rpz-ip CNAME .', '1.0.218.230'],
    ['48.zz.db8.2001.rpz-ip CNAME .', '2001:db8::/48'],
    ['128.57.zz.102.db8.2001.rpz-ip CNAME .', '2001:db8:102::57'],
    ['64.0.0.0.0.3.2.db8.2001.rpz-ip CNAME .', '2001:db8:2:3::/64'],
    ['1.zz.db8.2001.rpz-ip CNAME .', '2001:db8::1'],
    ['2001.db8.zz.1.rpz-ip CNAME .', '2001:db8::1'],
    ['bogus-nxdomain=192.0.2.1', '192.0.2.1'],
    ['bogus-nxdomain=192.0.2.77/25 # a search page', '192.0.2.0/25'],
    ['bogus-nxdomain=2001:db8::1', '2001:db8::1'],
    ['bogus-nxdomain=2001:DB8::/32', '2001:db8::/32'],
    ['198.51.100.0/22', '198.51.100.0/22'],
    ['2001:db8:1::/48 # a network', '2001:db8:1::/48'],
  ])('makes a rule on addresses in answers of %s', (line, address) => {
    const parsed = parse(`${line}\n`);
    expect(parsed.names).toEqual([`BLOCK_EXACT ${address}`]);
    expect(parsed).toMatchObject({ rules: 1, addressRules: 1, invalidLines: 0, skippedLines: 0 });
  });

  test.each([
    '24.1.2.0.192.rpz-ip',
    '33.1.2.0.192.rpz-ip',
    '5.rpz-ip',
    'x.rpz-ip',
    '64.zz.zz.rpz-ip',
    '2.0.192.rpz-ip',
  ])('refuses the trigger %s, which means no network', (owner) => {
    const { names, invalidSamples } = parse(`${owner} CNAME .\nexample.net\n`);
    expect(names).toEqual(['BLOCK_EXACT example.net']);
    expect(invalidSamples[0]?.reason).toBe('not an address, nor a prefix, as rpz-ip records have them');
  });

  test('makes exceptions of rpz-passthru and of allowlists', () => {
    expect(parse('24.0.2.0.192.rpz-ip CNAME rpz-passthru.\n').names).toEqual(['ALLOW_EXACT 192.0.2.0/24']);
    const allow = { kind: 'allow', subdomains: false } as const;
    expect(parse('bogus-nxdomain=192.0.2.0/24\n', allow).names).toEqual(['ALLOW_EXACT 192.0.2.0/24']);
  });

  test.each([
    ['as rpz-ip records, as they are published', (address: string) => `${address}.rpz-ip CNAME .`],
    ['as bogus-nxdomain entries', (address: string) => `bogus-nxdomain=${address}`],
  ])('takes every one of a list of 58,575 addresses %s', (_how, line) => {
    const addresses = Array.from(
      { length: 58_575 },
      (_, index) => `${1 + (index % 223)}.${(index * 7) % 256}.${index >>> 8}.${index % 256}`,
    );
    const parsed = parse(`$TTL 300\n@ SOA a. b. 1 2 3 4 5\n  NS  a.\n;\n${addresses.map(line).join('\n')}\n`);
    expect(parsed).toMatchObject({ fault: null, rules: 58_575, invalidLines: 0, skippedLines: 0 });
    expect(parsed.names).toEqual(addresses.map((address) => `BLOCK_EXACT ${address}`));
  });

  test('tells the names of clients that rules speak of, and takes a thousand at most', () => {
    const { clientNames } = parse('||a.example^$client=B|~c\n||d.example^$client=b|02-00-5e-10-00-01\n');
    expect(clientNames).toEqual(['b', 'c', '02:00:5e:10:00:01']);
    const many = Array.from({ length: 1001 }, (_, index) => `||a${index}.example^$client=c${index}\n`).join(
      '',
    );
    const parsed = parse(many);
    expect(parsed.rules).toBe(1000);
    expect(parsed.skippedSamples).toMatchObject([
      { line: 1001, reason: '$client with more than 1000 names in one list' },
    ]);
  });

  test('takes no more special rules and $badfilter rules of a list than memory is set aside for', () => {
    const names = `a.example${'|b.example'.repeat(400)}`;
    const lines = Array.from({ length: 6000 }, (_, at) => `||x${at}.example^$denyallow=${names}\n`);
    const longRules = parse(lines.join(''));
    expect(longRules.special.length * names.length).toBeLessThan(17_000_000);
    expect(longRules.special.length).toBeGreaterThan(4000);
    expect(longRules.skippedLines).toBe(6000 - longRules.special.length);
    expect(longRules.skippedSamples[0]?.reason).toBe('too many patterns in one list');
    expect(parse('||x.example^$badfilter\n'.repeat(60_000)).badFilters).toHaveLength(50_000);
  });

  test('reads lines of every form behind any number of others', () => {
    const lines = [
      '||a.example^$important',
      '@@|b.example^',
      'address=/c.example/0.0.0.0',
      'local-zone: "d.example" always_nxdomain',
      'e.example CNAME .',
      '*.f.example CNAME .',
      '@ SOA g. h. 1 2 3 4 5',
      '0.0.0.0 i.example',
    ];
    const { names, skippedLines, invalidLines } = parse(`${'# why\n'.repeat(2000)}${lines.join('\n')}\n`);
    expect([names.length, skippedLines, invalidLines]).toEqual([7, 0, 0]);
    const special = parse(`${'# why\n'.repeat(2000)}/^j[0-9]/\n^k[0-9]\\.x$\n||l*.example^\n`);
    expect(special.special.map(({ text }) => text)).toEqual(['^j[0-9]', '^k[0-9]\\.x$', '||l*.example^']);
  });

  test.each([
    ['a word with a colon that is too long for an option', `${'x'.repeat(21)}: y`],
    ['a word with a colon that is too long for an address', `${'a:'.repeat(33)} a.example`],
  ])('makes no rule of %s, and says the same as of a short one', (_, line) => {
    const [long, short] = [parse(`${line}\n`), parse(`${line.slice(line.lastIndexOf(':') - 3)}\n`)];
    expect([long.names, long.special]).toEqual([[], []]);
    expect(long.invalidSamples.map(({ reason }) => reason)).toEqual(
      short.invalidSamples.map(({ reason }) => reason),
    );
    expect(long.invalidLines + long.skippedLines).toBe(1);
  });

  test('refuses a rule that is longer than any list needs, and says so', () => {
    const { invalidSamples, names } = parse(
      `||a.example^$denyallow=${'b|'.repeat(3000)}c\n0.0.0.0 ${'d.example '.repeat(3000)}\n`,
    );
    expect(invalidSamples).toMatchObject([{ line: 1, reason: 'longer than 4096 bytes: no rule' }]);
    expect(names).toHaveLength(3000);
  });

  test('lets $badfilter name the rule that it takes back, whatever the order of its modifiers', () => {
    const { badFilters } = parse(
      '||example.com^$badfilter\n@@||a.example^$badfilter,important\n||b.example^$dnstype=A,badfilter\n',
    );
    expect(badFilters).toEqual([
      { rule: '||example.com^', name: 'example.com', kind: RuleKind.BLOCK_SUFFIX },
      { rule: '@@||a.example^$important', name: 'a.example', kind: RuleKind.IMPORTANT_ALLOW_SUFFIX },
      { rule: '||b.example^$dnstype=A', name: null, kind: RuleKind.BLOCK_SUFFIX },
    ]);
  });

  test('reads the rules of an allowlist as exceptions', () => {
    const list =
      '||a.example^\n@@||b.example^\nc.example\n||d*.example^\naddress=/e.example/#\nf.example CNAME .\n';
    const { names, special } = parse(list, { kind: 'allow', subdomains: false });
    expect(names).toEqual([
      'ALLOW_SUFFIX a.example',
      'ALLOW_SUFFIX b.example',
      'ALLOW_EXACT c.example',
      'ALLOW_SUFFIX e.example',
      'ALLOW_EXACT f.example',
    ]);
    expect(special).toEqual([expect.objectContaining({ kind: RuleKind.ALLOW_SUFFIX })]);
  });
});
