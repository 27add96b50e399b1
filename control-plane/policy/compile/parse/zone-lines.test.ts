import { describe, expect, test } from '@jest/globals';
import { parseLines } from '../../../../test/support/parts/parsed-lines.ts';
import { isRecord } from './zone-lines.ts';

const SOA = '@ SOA localhost. root.localhost. (1 3600\n600 86400 60)';

describe('ZoneLines', () => {
  test.each([
    ['a.example CNAME .', ['BLOCK_EXACT a.example']],
    ['a.example 2h IN CNAME *.', ['BLOCK_EXACT a.example']],
    ['a.example cname rpz-drop.', ['BLOCK_EXACT a.example']],
    ['a.example IN 60 A 0.0.0.0', ['BLOCK_EXACT a.example']],
    ['a.example AAAA ::', ['BLOCK_EXACT a.example']],
    ['a.example CNAME RPZ-PASSTHRU.', ['ALLOW_EXACT a.example']],
    ['* CNAME .', []],
    ['@ NS localhost.', []],
    ['  NS localhost.', []],
    ['a.example CNAME .\n  TXT "why"', ['BLOCK_EXACT a.example']],
    ['xrpz-nsdname.example CNAME .', ['BLOCK_EXACT xrpz-nsdname.example']],
    ['a.example. CNAME .', ['BLOCK_EXACT a.example']],
    ['$ORIGIN rpz.local.\na.example.rpz.local. CNAME .', ['BLOCK_EXACT a.example']],
    ['b.example\n0.0.0.0 c.example', ['BLOCK_EXACT b.example', 'BLOCK_EXACT c.example']],
  ])('reads %j in a zone', (text, names) => {
    expect(parseLines(`$TTL 60\n${SOA}\n${text}\n`).names.toSorted()).toEqual(names);
  });

  test.each([
    ['a.example CNAME rpz-passthru', 'RPZ rewriting is not supported'],
    ['a.example CNAME', 'RPZ rewriting is not supported'],
    ['a.example A 192.0.2.1', 'RPZ rewriting is not supported'],
    ['a.example TXT 0.0.0.0', 'RPZ rewriting is not supported'],
    ['32.1.2.0.192.rpz-client-ip CNAME .', 'RPZ trigger other than a name or an address in the answer'],
    ['a.example.elsewhere. CNAME .', 'a name outside the zone'],
  ])('skips %s: %s', (line, reason) => {
    const { skippedSamples, names } = parseLines(
      `$ORIGIN rpz.local.\n@ SOA a. b. 1 2 3 4 5\n${line}\nok.example CNAME .\n`,
    );
    expect([skippedSamples[0]?.reason, names]).toEqual([reason, ['BLOCK_EXACT ok.example']]);
  });

  test('completes relative owner names with the origin', () => {
    const zone = [
      '$ORIGIN .',
      'rpz.local 60 IN SOA localhost. root.localhost. 1 3600 600 86400 60',
      '\tNS\tlocalhost.',
      'r1.example.rpz.local 60 IN CNAME .',
      '$ORIGIN example.rpz.local.',
      '*.ads CNAME .',
      'ok.ads CNAME rpz-passthru.',
      '$ORIGIN deep',
      'x CNAME .;why',
      '* CNAME .',
      '32.1.2.0.192.rpz-ip.rpz.local. CNAME .',
    ];
    const { names, special } = parseLines(`${zone.join('\n')}\n`);
    // A wildcard does not cover existing names.
    expect(special.map(({ rule, denyallow }) => [rule, denyallow])).toEqual([
      ['*.ads.example', ['ok.ads.example']],
      ['*.deep.example', ['x.deep.example']],
    ]);
    expect(names).toEqual([
      'BLOCK_EXACT 192.0.2.1',
      'BLOCK_EXACT r1.example',
      'ALLOW_EXACT ok.ads.example',
      'BLOCK_EXACT x.deep.example',
    ]);
  });
});

describe('isRecord()', () => {
  test.each([
    ' CNAME .',
    '\t60 IN A 0.0.0.0',
    ' IN 60 CNAME .',
    ' A 0.0.0.0;why',
    ' 1h SOA a.',
    ' aaaa ::1 ',
    ' IN NS a.',
  ])('returns true for "%s"', (rest) => {
    expect(isRecord(rest)).toBe(true);
  });

  test.each(['CNAME .', ' CNAME', ' a rule', ' A 1x', ' AAAA beef', ' IN IN A 0.0.0.0', ' MX 10 a.'])(
    'returns false for "%s"',
    (rest) => {
      expect(isRecord(rest)).toBe(false);
    },
  );
});
