import { describe, expect, test } from '@jest/globals';
import {
  type ConfigOutcome,
  isRecord,
  readDnsmasqLine,
  readPolicyRecord,
  readUnboundLine,
} from './config-line.ts';

/** `reach names`, the network, or why the line is of no use; null if it counts as a comment. */
function shown(outcome: ConfigOutcome): string | null {
  if ('names' in outcome) return `${outcome.reach} ${outcome.names.join(' ')}`;
  return 'network' in outcome ? outcome.network.text : (outcome.unused?.reason ?? null);
}

describe('readDnsmasqLine', () => {
  test.each([
    ['address=/a.example/0.0.0.0', 'suffix a.example'],
    ['address=/a.example/::', 'suffix a.example'],
    ['address=/a.example/#', 'suffix a.example'],
    ['address=/a.example/', 'suffix a.example'],
    ['ADDRESS=/a.example/b.example/', 'suffix a.example b.example'],
    ['local=/.a.example/*.b.example/ # why', 'suffix a.example b.example'],
    ['server=/a.example/', 'suffix a.example'],
    ['server=/a.example/0.0.0.0#53', 'suffix a.example'],
    ['server=/a.example/192.0.2.1#5353', 'forwarding to a server: no block'],
    ['server=/a.example/#', 'forwarding to a server: no block'],
    ['server=', 'forwarding to a server: no block'],
    ['server=# none', 'forwarding to a server: no block'],
    ['address=/a.example/192.0.2.1', 'an answer with a real address: no block'],
    ['address=/#/0.0.0.0', 'a rule for every name is not taken'],
    ['address=//0.0.0.0', 'a rule for every name is not taken'],
    ['server=192.0.2.1', 'an option that blocks nothing'],
    ['address=/0.0.0.0', 'an option that blocks nothing'],
    ['address=/a.example/0.0.0.0 b', 'an option that blocks nothing'],
    ['cache-size=0', 'an option that blocks nothing'],
    ['bogus-nxdomain= 192.0.2.9/24 # why', '192.0.2.0/24'],
    ['bogus-nxdomain=a.example', 'not an address, nor a prefix'],
  ])('reads %s as "%s"', (line, outcome) => {
    expect(shown(readDnsmasqLine(line))).toBe(outcome);
  });
});

describe('readUnboundLine', () => {
  test.each([
    ['local-zone: "a.example" always_nxdomain', 'suffix a.example'],
    ['local-zone: a.example Refuse # why', 'suffix a.example'],
    ['local-zone: "a.example" transparent', 'a zone that is answered as usual: no block'],
    ['local-zone: "." refuse', 'a rule for every name is not taken'],
    ['local-zone: "a.example"', 'an option that blocks nothing'],
    [`local-data: "a.example A 0.0.0.0"`, 'exact a.example'],
    [`local-data: 'a.example 60 IN AAAA ::'`, 'exact a.example'],
    [`local-data: "a.example A 192.0.2.1"`, 'an answer with a real address: no block'],
    [`local-data: "a.example TXT x"`, 'an option that blocks nothing'],
    ['server:', null],
  ])('reads %s as "%s"', (line, outcome) => {
    expect(shown(readUnboundLine(line))).toBe(outcome);
  });
});

describe('readPolicyRecord', () => {
  test.each([
    ['a.example', ' CNAME .', 'block'],
    ['a.example', ' 2h IN CNAME *.', 'block'],
    ['a.example', ' cname rpz-drop.', 'block'],
    ['a.example', ' IN 60 A 0.0.0.0', 'block'],
    ['a.example', ' AAAA ::', 'block'],
    ['a.example', ' CNAME RPZ-PASSTHRU.', 'allow'],
    ['a.example', ' CNAME rpz-passthru', { reason: 'RPZ rewriting is not supported' }],
    ['a.example', ' CNAME', { reason: 'RPZ rewriting is not supported' }],
    ['a.example', ' A 192.0.2.1', { reason: 'RPZ rewriting is not supported' }],
    ['a.example', ' TXT 0.0.0.0', { reason: 'RPZ rewriting is not supported' }],
    ['@', ' NS localhost.', null],
    ['@', ' 60 SOA a. b. 1 2 3 4 5', null],
  ])('reads the record %s%s', (owner, rest, outcome) => {
    const read = readPolicyRecord(owner, rest);
    if (typeof outcome === 'object' && outcome !== null) expect(read).toMatchObject(outcome);
    else expect(read).toBe(outcome);
  });

  test.each(['32.1.2.0.192.rpz-client-ip', '32.1.2.0.192.RPZ-NSIP.zone.example', 'rpz-nsdname'])(
    'refuses the trigger %s, but not a name that only contains the word',
    (owner) => {
      expect(readPolicyRecord(owner, ' CNAME .')).toMatchObject({
        reason: 'RPZ trigger that is neither a name nor an address of the answer',
      });
      expect(readPolicyRecord(`x${owner.replaceAll('.', '')}.example`, ' CNAME .')).toBe('block');
    },
  );
});

describe('isRecord', () => {
  test.each([' CNAME .', '\t60 IN A 0.0.0.0', ' 1h SOA a.', ' aaaa ::1 ', ' IN NS a.'])(
    'returns true for "%s"',
    (rest) => {
      expect(isRecord(rest)).toBe(true);
    },
  );

  test.each(['CNAME .', ' CNAME', ' a rule', ' A 1x', ' AAAA beef', ' IN IN A 0.0.0.0', ' MX 10 a.'])(
    'returns false for "%s"',
    (rest) => {
      expect(isRecord(rest)).toBe(false);
    },
  );
});
