/**
 * Reading of lines, including lines with several names, configurations of other servers, and unusual forms from real
 * lists.
 */
import { describe, expect, test } from '@jest/globals';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';

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
    ['://example.com^', 'BLOCK_EXACT example.com'],
    ['|https://example.com^', 'BLOCK_EXACT example.com'],
    ['http://example.com^', 'BLOCK_EXACT example.com'],
    ['||example.com/*', 'BLOCK_SUFFIX example.com'],
    ['||EXAMPLE.com^*', 'BLOCK_SUFFIX example.com'],
    ['||exämple.com^$important', 'IMPORTANT_BLOCK_SUFFIX xn--exmple-cua.com'],
    ['address=/example.com/#', 'BLOCK_SUFFIX example.com'],
    ['address=/example.com/0.0.0.0', 'BLOCK_SUFFIX example.com'],
    ['address = /example.com/0.0.0.0', 'BLOCK_SUFFIX example.com'],
    ['host-record=example.com,0.0.0.0', 'BLOCK_EXACT example.com'],
    ['address=/.example.com/', 'BLOCK_SUFFIX example.com'],
    ['local=/example.com/', 'BLOCK_SUFFIX example.com'],
    ['server=/example.com/', 'BLOCK_SUFFIX example.com'],
    ['server=/example.com/127.0.0.1 # why', 'BLOCK_SUFFIX example.com'],
    ['local-zone: "example.com." always_null', 'BLOCK_SUFFIX example.com'],
    ['local-zone: "example.com" always_nxdomain', 'BLOCK_SUFFIX example.com'],
    ["local-zone: 'example.com' static", 'BLOCK_SUFFIX example.com'],
    ['local-data: "example.com A 0.0.0.0"', 'BLOCK_EXACT example.com'],
    ['example.com CNAME .', 'BLOCK_EXACT example.com'],
    ['example.com\t60\tIN\tCNAME\t*.', 'BLOCK_EXACT example.com'],
    ['example.com CNAME .;why', 'BLOCK_EXACT example.com'],
    ['example.com IN 300 CNAME .', 'BLOCK_EXACT example.com'],
    ['*.example.com CNAME . ; all below', 'BLOCK_BELOW example.com'],
    ['example.com CNAME rpz-passthru.', 'ALLOW_EXACT example.com'],
    ['*.example.com CNAME rpz-passthru.', 'ALLOW_BELOW example.com'],
    ['example.com A 0.0.0.0', 'BLOCK_EXACT example.com'],
  ])('reads %s as a rule for a plain name', (line, rule) => {
    const { names, special, invalidLines, skippedLines } = parseLines(`${line}\n`);
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
    ['@@example.com', { match: 'pattern', text: 'example.com', kind: RuleKind.ALLOW_SUFFIX }],
    ['example.com$dnstype=A', { match: 'pattern', text: 'example.com', types: [1] }],
    ['|b7', { match: 'pattern', text: '|b7' }],
    ['||*^$dnstype=AAAA', { match: 'pattern', text: '||*^', types: [28] }],
    ['*$denyallow=com|bücher.example', { match: 'pattern', denyallow: ['com', 'xn--bcher-kva.example'] }],
    ['@@||*^$client=192.0.2.7', { match: 'pattern', kind: RuleKind.ALLOW_SUFFIX }],
    ['$dnstype=SRV', { match: 'pattern', text: '*', types: [33] }],
    ['/^ads[0-9]+\\./', { match: 'regex', text: '^ads[0-9]+\\.' }],
    ['/x3\\.example/ # why', { match: 'regex', text: 'x3\\.example' }],
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
    ['||example.com^$dnsrewrite=NXDOMAIN', { rewrite: { rcode: 3 } }],
    ['||example.com^$dnsrewrite=REFUSED', { rewrite: { rcode: 5 } }],
    [
      '||example.com^$dnsrewrite=192.0.2.7',
      { rewrite: { rcode: 0, record: { type: 1, rdata: 'c0000207' } } },
    ],
    ['@@||example.com^$dnsrewrite', { rewrite: { rcode: 0 }, kind: RuleKind.ALLOW_SUFFIX }],
    ['@@||example.com^$dnsrewrite=NXDOMAIN', { rewrite: { rcode: 3 }, kind: RuleKind.ALLOW_SUFFIX }],
    [
      '||example.com^$dnsrewrite=NOERROR;AAAA;2001:db8::7',
      { rewrite: { rcode: 0, record: { type: 28, rdata: '20010db8000000000000000000000007' } } },
    ],
    [
      `||example.com^$dnsrewrite=NOERROR;TXT;${'é'.repeat(512)}`,
      { rewrite: { rcode: 0, record: { type: 16, rdata: expect.stringMatching(/^ffc3a9/) } } },
    ],
  ])('reads %s as a rule with a pattern, a regular expression or a condition', (line, rule) => {
    const parsed = parseLines(`! heading\n${line}\n`);
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
      '$client with a value that is not an address or a network: 192.0.2.300',
    ],
    [
      '||example.com^$client=192.0.2.0/33',
      '$client with a value that is not an address or a network: 192.0.2.0/33',
    ],
    [
      '||example.com^$client=02:00:5e:10:00',
      '$client with a value that is not an address or a network: 02:00:5e:10:00',
    ],
    ['||example.com^$client=', '$client with a value that is not a name: '],
    [
      '||example.com^$dnsrewrite=two words',
      '$dnsrewrite to a value that is not a response code, an address or a host name',
    ],
    [
      '||example.com^$dnsrewrite=NOERROR;CNAME;192.0.2.1',
      '$dnsrewrite with data that is not valid for type CNAME',
    ],
    [
      '||example.com^$dnsrewrite=NOERROR;NS;a.example',
      '$dnsrewrite to a record of this type is not supported: NS',
    ],
    ['||example.com/ads^', 'URL or path: a DNS server sees only names'],
    ['/^https?:\\/\\/example/', 'regular expression for whole URLs'],
    ...['||*^', '*', '||', '||*^$dnsrewrite=192.0.2.1', '*$important'].map((line): [string, string] => [
      line,
      'pattern too short: it would match almost everything',
    ]),
    ['https://example.com', 'URL or path: a DNS server sees only names'],
    ['example.com##.ad', 'cosmetic rule'],
    ['address=/example.com/192.0.2.1', 'an answer with a real address: does not block'],
    ['server=/example.com/192.0.2.1', 'forwarding to a server: does not block'],
    ['server=/example.com/#', 'forwarding to a server: does not block'],
    ['address=/#/0.0.0.0', 'a rule for every name is not accepted'],
    ['local-zone: "example.com" transparent', 'a zone that is answered as usual: does not block'],
    ['local-zone: "." refuse', 'a rule for every name is not accepted'],
    ['example.com CNAME elsewhere.example.', 'RPZ rewriting is not supported'],
    ['32.1.2.0.192.rpz-nsip CNAME .', 'RPZ trigger other than a name or an address in the answer'],
    ['0.0.0.0.0.rpz-ip CNAME .', 'a rule for every address is not accepted'],
    ['bogus-nxdomain=::/0', 'a rule for every address is not accepted'],
    ['bogus-nxdomain=0.0.0.0', 'an address that means "block": it cannot be matched in answers'],
    ['192.0.2.0/24/x', 'URL or path: a DNS server sees only names'],
  ])('skips %s: %s', (line, reason) => {
    const parsed = parseLines(`${line}\nexample.net\n`);
    expect(parsed.names).toEqual(['BLOCK_EXACT example.net']);
    expect(parsed.special).toEqual([]);
    expect(parsed.skippedSamples).toEqual([{ line: 1, reason, text: line }]);
  });

  test('skips a TXT record that is longer than a reply over UDP', () => {
    const parsed = parseLines(`||example.com^$dnsrewrite=NOERROR;TXT;${'é'.repeat(513)}\n`);
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
  ])('reads %s, which is not between slashes, as a regular expression', (line) => {
    const parsed = parseLines(`# heading\n${line}  # why\n`);
    expect(parsed.special).toEqual([expect.objectContaining({ match: 'regex', text: line, rule: line })]);
    expect(parsed).toMatchObject({
      format: 'regex',
      rules: 1,
      textRules: 1,
      invalidLines: 0,
      skippedLines: 0,
    });
  });

  test('counts patterns and regular expressions as text rules, but not names with a condition', () => {
    expect(parseLines('||ads.example^$dnstype=A\n||*.ads.example^$dnstype=A\n').textRules).toBe(0);
    expect(parseLines('||ads*track^\n')).toMatchObject({ rules: 1, wildcardRules: 1, textRules: 1 });
    expect(parseLines('/^ads[0-9]/\n')).toMatchObject({ rules: 1, wildcardRules: 1, textRules: 1 });
    expect(parseLines('|ads.example^$dnstype=A\n')).toMatchObject({
      rules: 1,
      wildcardRules: 0,
      textRules: 0,
    });
  });

  test.each(['(c) 2026 somebody', 'see [this](page)', 'a (b) c', '[broken'])(
    'does not treat the prose "%s" as a regular expression',
    (line) => {
      expect(parseLines(`${line}\nexample.net\n`)).toMatchObject({ special: [], invalidLines: 1 });
    },
  );

  test('refuses regular expressions that cannot be matched in linear time, with the reason', () => {
    const { invalidSamples, invalidLines } = parseLines('/(?=a)b/\n/(a)\\1/\n^a(?!b)\\.\nexample.net\n');
    expect(invalidLines).toBe(3);
    expect(invalidSamples.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^regular expression: .*\(\?=/),
      expect.stringMatching(/^regular expression: .*\\1/),
      expect.stringMatching(/^regular expression: .*\(\?!/),
    ]);
  });

  test('reads a zone whose SOA record spans several lines with comments', () => {
    const zone = `$TTL 30
@ SOA localhost. root.localhost. (
    1 ; serial )
    2 3 4 5 )
  NS  localhost.
@ IN NS localhost.
a.example CNAME .
*.a.example CNAME .
`;
    const parsed = parseLines(zone);
    expect(parsed.names).toEqual(['BLOCK_EXACT a.example', 'BLOCK_BELOW a.example']);
    expect(parsed).toMatchObject({ format: 'rpz', invalidLines: 0, skippedLines: 0 });
  });

  test('does not treat prose as an address record', () => {
    expect(parseLines('not a rule\nexample.net\n')).toMatchObject({ invalidLines: 1, skippedLines: 0 });
  });

  test('returns the rule that a $badfilter rule disables, with the modifiers in any order', () => {
    const { badFilters } = parseLines(
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
    const { names, special } = parseLines(list, { kind: 'allow', subdomains: false });
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
