/** The whole pipeline with cached answers: decisions based on the names and addresses in these answers. */
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { matchedName, type Query } from '../../dns-worker/query/query.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import { a, cname, octets, u16, wireName } from '../support/dns/built-messages.ts';
import { PolicyPipeline, sent } from '../support/parts/policy-pipeline.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

let weir: PolicyPipeline;

beforeEach(() => {
  weir = new PolicyPipeline();
});

describe('Pipeline, checking the records of an answer', () => {
  test('blocks a cached answer with a CNAME to a blocked name, and logs the rule', () => {
    weir.use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    weir.cache('shop.example', 1, [
      cname('shop.example', 'shop.tracker.example'),
      a('shop.tracker.example', '192.0.2.1'),
    ]);
    const answer = weir.ask('shop.example');
    expect(answer.status).toBe('BLOCKED_CNAME');
    expect(sent(answer)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    const judged = matchedName(answer.query);
    expect(nameToText(judged)).toBe('shop.tracker.example');
    expect(nameToText(judged.slice(answer.query.ruleNameOffset))).toBe('tracker.example');
  });

  test('checks a cached answer again with each policy snapshot, and returns answers with allowed names only', () => {
    weir.use([]);
    weir.cache('shop.example', 1, [
      cname('shop.example', 'x.tracker.example'),
      a('x.tracker.example', '192.0.2.1'),
    ]);
    expect(weir.ask('shop.example').status).toBe('CACHED');
    expect(weir.ask('shop.example').status).toBe('CACHED');
    weir.use([{ text: '||tracker.example^\n', reading: BLOCK }]);
    expect(weir.ask('shop.example').status).toBe('BLOCKED_CNAME');
    weir.use([{ text: '||tracker.example^\n@@||shop.example^\n', reading: BLOCK }]);
    expect(weir.ask('shop.example').status).toBe('CACHED');
  });

  test("unblocks a CNAME target denied by a user or service if a user's rule allows the name, not if a list allows it", () => {
    const lists = [{ text: '@@||shop.example^\n||tracker.example^\n', reading: BLOCK }];
    const chain = (target: string): void =>
      weir.cache('shop.example', 1, [cname('shop.example', target), a(target, '192.0.2.1')]);
    const managed = (action: 'allow' | 'deny', domain: string) => {
      return { id: 1, name: `${action} it`, domain, suffix: true, action, groupId: null };
    };
    weir.use(lists);
    chain('x.tracker.example');
    expect(weir.ask('shop.example').status).toBe('CACHED');
    weir.use(lists, { managedDomains: [managed('deny', 'tracker.example')] });
    const denied = weir.ask('shop.example');
    expect(denied.status).toBe('BLOCKED_CNAME');
    expect(denied.query.ruleOrigin).toBe(RuleOrigin.MANAGED);
    const regex = { id: 1, name: 'r', pattern: '^x\\.tracker\\.', action: 'deny' as const, groupId: null };
    weir.use(lists, { regexFilters: [regex] });
    expect(weir.ask('shop.example').query.ruleOrigin).toBe(RuleOrigin.REGEX);
    const service = { serviceId: 's', serviceName: 'S', groupId: 1, domains: ['tracker.example'], exact: [] };
    weir.use(lists, { blockedServices: [service] });
    expect(sent(weir.ask('shop.example'))).toEqual({ rcode: 'NXDOMAIN', answers: [] });
    weir.use(lists, {
      managedDomains: [managed('allow', 'shop.example'), managed('deny', 'tracker.example')],
    });
    expect(weir.ask('shop.example').status).toBe('CACHED');
  });

  test('checks an answer separately for a client whose lists do not allow the name', () => {
    const groups = [1, 2].map((id) => ({ id, enabled: true }));
    const lists = [
      { text: '@@||shop.example^$client=192.0.2.1\n', reading: BLOCK },
      { text: '||tracker.example^\n', reading: BLOCK },
    ];
    weir.use(lists, { groups });
    weir.cache('shop.example', 1, [
      cname('shop.example', 'x.tracker.example'),
      a('x.tracker.example', '192.0.2.1'),
    ]);
    expect(weir.ask('shop.example', 1, '192.0.2.1').status).toBe('CACHED');
    expect(weir.ask('shop.example', 1, '192.0.2.2').status).toBe('BLOCKED_CNAME');
    expect(weir.ask('shop.example', 1, '192.0.2.1').status).toBe('CACHED');
  });

  test('blocks an answer by address prefix, only for the groups of the list', () => {
    const ruleName = ({ query }: { query: Query }): string =>
      nameToText(query.ruleName.slice(0, query.ruleNameLength));
    weir.cache('host.example', 1, [a('host.example', '198.51.100.1'), a('host.example', '192.0.2.77')]);
    const six = { owner: 'six.example', type: 28, ttl: 300, rdata: addressFromText('2001:db8:1::7')! };
    weir.cache('six.example', 28, [six]);
    const rows = {
      groups: [1, 2].map((id) => ({ id, enabled: true })),
      clients: [{ address: '192.0.2.2', groupId: 2 }],
    };
    const list = '9.0.0.128.192.rpz-ip CNAME .\n25.0.2.0.192.rpz-ip CNAME .\n24.0.2.0.192.rpz-ip CNAME .\n';
    const snapshot = weir.use(
      [{ text: `${list}bogus-nxdomain=2001:db8::/32\n`, reading: BLOCK, groupIds: [2] }],
      rows,
    );
    expect(weir.ask('host.example').status).toBe('CACHED');
    const blocked = weir.ask('host.example', 1, '192.0.2.2');
    expect([blocked.status, ruleName(blocked)]).toEqual(['BLOCKED_LIST', '192.0.2.0/25']);
    expect(sent(blocked)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(blocked.query.ruleKind).toBe(RuleKind.BLOCK_EXACT);
    const blockedSix = weir.ask('six.example', 28, '192.0.2.2');
    expect([blockedSix.status, ruleName(blockedSix)]).toEqual(['BLOCKED_LIST', '2001:db8::/32']);
    expect([...snapshot.rules.ipv4Prefixes, ...snapshot.rules.ipv6Prefixes]).toEqual([25, 24, 9, 32]);
    // An exception for the address, for a prefix of the address, or for the name outranks the block.
    for (const exception of [
      '32.77.2.0.192.rpz-ip CNAME rpz-passthru.',
      '16.0.0.0.192.rpz-ip CNAME rpz-passthru.',
      '@@||host.example^',
    ]) {
      weir.use([{ text: `${list}${exception}\n`, reading: BLOCK }]);
      expect(weir.ask('host.example').status).toBe('CACHED');
    }
  });

  test('checks addresses and prefixes only if a list has rules for addresses or prefixes', () => {
    weir.cache('host.example', 1, [a('host.example', '192.0.2.77')]);
    const none = weir.use([{ text: '||other.example^\n', reading: BLOCK }]);
    const find = jest.spyOn(none.rules, 'find');
    expect(weir.ask('host.example').status).toBe('CACHED');
    expect(find).toHaveBeenCalledTimes(2);
    const single = weir.use([{ text: '198.51.100.9\n', reading: BLOCK }]);
    const findAddress = jest.spyOn(single.rules, 'find');
    expect(weir.ask('host.example').status).toBe('CACHED');
    expect(findAddress).toHaveBeenCalledTimes(2 + 4);
    expect(weir.ask('host.example').status).toBe('CACHED');
    expect(findAddress).toHaveBeenCalledTimes(2 + 4);
  });

  test('checks the target name of an HTTPS record', () => {
    weir.use([{ text: 'cdn.tracker.example\n', reading: BLOCK }]);
    const rdata = octets(u16(1), wireName('cdn.tracker.example'));
    weir.cache('shop.example', 65, [{ owner: 'shop.example', type: 65, ttl: 300, rdata }]);
    expect(weir.ask('shop.example', 65).status).toBe('BLOCKED_CNAME');
  });

  test('blocks an answer if a rule matches one of its addresses, and logs the rule', () => {
    weir.use([{ text: 'ads.example\n', reading: BLOCK }]);
    weir.cache('host.example', 1, [a('host.example', '198.51.100.1'), a('host.example', '192.0.2.7')]);
    weir.cache('six.example', 28, [
      { owner: 'six.example', type: 28, ttl: 300, rdata: addressFromText('2001:db8::7')! },
    ]);
    expect(weir.ask('host.example').status).toBe('CACHED');
    weir.use([{ text: '192.0.2.7\n2001:db8:0::7\n', reading: BLOCK }]);
    const answer = weir.ask('host.example');
    expect(answer.status).toBe('BLOCKED_LIST');
    expect(sent(answer)).toEqual({ rcode: 'NOERROR', answers: [['A', '0.0.0.0']] });
    expect(nameToText(answer.query.ruleName.slice(0, answer.query.ruleNameLength))).toBe('192.0.2.7');
    expect(weir.ask('six.example', 28).status).toBe('BLOCKED_LIST');
    weir.use([{ text: '||192.0.2.7^\n@@||host.example^\n', reading: BLOCK }]);
    expect(weir.ask('host.example').status).toBe('CACHED');
    weir.use([{ text: '||192.0.2.7^$client=198.51.100.9\n', reading: BLOCK }]);
    expect(weir.ask('host.example', 1, '198.51.100.9').status).toBe('BLOCKED_LIST');
    expect(weir.ask('host.example').status).toBe('CACHED');
    weir.use([{ text: '192.0.2.7\n@@||192.0.2.7^\n', reading: BLOCK }]);
    expect(weir.ask('host.example').status).toBe('CACHED');
  });

  test('matches addresses only against regular expressions and patterns for addresses', () => {
    weir.cache('lan.example', 1, [a('lan.example', '10.1.2.3')]);
    weir.cache('seven.example', 1, [a('seven.example', '198.51.100.7')]);
    weir.cache('local.example', 28, [
      { owner: 'local.example', type: 28, ttl: 300, rdata: addressFromText('fe80::1')! },
    ]);
    const forAddresses =
      '/^10\\.(?:\\d{1,3})\\.(?:\\d{1,3})\\.(?:\\d{1,3})$/\n/^fe80::.*$/\n||198.51.100.*\n';
    weir.use([{ text: forAddresses, reading: BLOCK }]);
    expect(weir.ask('lan.example').status).toBe('BLOCKED_LIST');
    expect(weir.ask('local.example', 28).status).toBe('BLOCKED_LIST');
    expect(weir.ask('seven.example').status).toBe('BLOCKED_LIST');
    const forNames = '/^[a-z0-9.]{4,}$/$denyallow=example\n/^.*[0-9]+.*$/$denyallow=example\n198.51.100.8\n';
    weir.use([{ text: forNames, reading: BLOCK }]);
    expect(weir.ask('lan.example').status).toBe('CACHED');
    expect(weir.ask('seven.example').status).toBe('CACHED');
  });

  test('checks the address hints of an HTTPS record', () => {
    weir.use([{ text: '192.0.2.8\n', reading: BLOCK }]);
    const hints = octets(u16(4), u16(8), [192, 0, 2, 1, 192, 0, 2, 8]);
    const rdata = octets(u16(1), [0], u16(1), u16(3), [2, 0x68, 0x32], hints);
    weir.cache('shop.example', 65, [{ owner: 'shop.example', type: 65, ttl: 300, rdata }]);
    expect(weir.ask('shop.example', 65).status).toBe('BLOCKED_LIST');
  });
});
