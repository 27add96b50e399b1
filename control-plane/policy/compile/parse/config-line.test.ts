import { describe, expect, test } from '@jest/globals';
import { type ConfigOutcome, readDnsmasqLine, UnboundLines } from './config-line.ts';

/** The outcome as text: `reach names`, the network, or the reason why the line gives no rule; null for a comment. */
function shown(outcome: ConfigOutcome): string | null {
  if (outcome instanceof Object && 'names' in outcome && outcome.unused === undefined)
    return `${outcome.meaning.reach} ${outcome.names.join(' ')}`;
  return 'network' in outcome ? outcome.network.text : (outcome.unused?.reason ?? null);
}

describe('readDnsmasqLine()', () => {
  test.each([
    ['address=/a.example/0.0.0.0', 'suffix a.example'],
    ['address=/a.example/::', 'suffix a.example'],
    ['address=/a.example/#', 'suffix a.example'],
    ['address=/a.example/', 'suffix a.example'],
    ['ADDRESS=/a.example/b.example/', 'suffix a.example b.example'],
    ['local=/.a.example/*.b.example/ # why', 'suffix a.example b.example'],
    ['server=/a.example/', 'suffix a.example'],
    ['server=/a.example/0.0.0.0#53', 'suffix a.example'],
    ['server=/a.example/192.0.2.1#5353', 'forwarding to a server: does not block'],
    ['server=/a.example/#', 'forwarding to a server: does not block'],
    ['server=', 'forwarding to a server: does not block'],
    ['server=# none', 'forwarding to a server: does not block'],
    ['address=/a.example/192.0.2.1', 'an answer with a real address: does not block'],
    ['address=/#/0.0.0.0', 'a rule for every name is not accepted'],
    ['address=//0.0.0.0', 'a rule for every name is not accepted'],
    ['server=192.0.2.1', 'an option that blocks nothing'],
    ['address=/0.0.0.0', 'an option that blocks nothing'],
    ['address=/a.example/0.0.0.0 b', 'an option that blocks nothing'],
    ['address = /a.example/0.0.0.0', 'suffix a.example'],
    ['host-record=a.example,b.example,0.0.0.0,::,60', 'exact a.example b.example'],
    ['host-record=a.example,192.0.2.1', 'an answer with a real address: does not block'],
    ['host-record=a.example', 'an option that blocks nothing'],
    ['cache-size=0', 'an option that blocks nothing'],
    ['bogus-nxdomain= 192.0.2.9/24 # why', '192.0.2.0/24'],
    ['bogus-nxdomain=a.example', 'neither an address nor a prefix'],
  ])('reads %s as "%s"', (line, outcome) => {
    expect(shown(readDnsmasqLine(line))).toBe(outcome);
  });
});

describe('UnboundLines', () => {
  test.each([
    ['local-zone: "a.example" always_nxdomain', 'suffix a.example'],
    ['local-zone: a.example Refuse # why', 'suffix a.example'],
    ['local-zone: "a.example" transparent', 'a zone that is answered as usual: does not block'],
    ['local-zone: "." refuse', 'a rule for every name is not accepted'],
    ['local-zone: "a.example"', 'an option that blocks nothing'],
    [`local-data: "a.example A 0.0.0.0"`, 'exact a.example'],
    [`local-data: 'a.example 60 IN AAAA ::'`, 'exact a.example'],
    [`local-data: "a.example A 192.0.2.1"`, 'an answer with a real address: does not block'],
    [`local-data: "a.example TXT x"`, 'data of a type that blocks nothing'],
    [`local-zone: 'a.example' static`, 'suffix a.example'],
    ['local-data: a.example IN 60 A 0.0.0.0 # why', 'exact a.example'],
    ['server: local-zone: "a.example" static', 'suffix a.example'],
    ['server:', null],
  ])('reads %s as "%s"', (line, outcome) => {
    expect(shown(new UnboundLines().read(line))).toBe(outcome);
  });

  test('ignores the options of a view until the next clause', () => {
    const unbound = new UnboundLines();
    const option = 'local-zone: "a.example" static';
    expect(['view:', option, 'server:', option].map((line) => shown(unbound.read(line)))).toEqual([
      null,
      'an option of a view, which is for some clients only',
      null,
      'suffix a.example',
    ]);
  });
});
