import { describe, expect, test } from '@jest/globals';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { DnsmasqDomains } from './dnsmasq-domains.ts';

/** The plan for these values of `address` and `server`. */
function mapped(addresses: readonly string[], servers: readonly string[], usual: readonly string[] = []) {
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'rules', 'rules');
  const names = new OwnNames(builder, lists);
  const domains = new DnsmasqDomains({ builder, lists, names }, 60);
  for (const value of addresses) domains.addAddress(value);
  for (const value of servers) domains.addServer(value);
  const allowed = domains.finish(usual);
  names.finish();
  lists.finish();
  const { items, document } = builder.finish('dnsmasq');
  return {
    allowed,
    document,
    rows: Object.fromEntries(items.map(({ name, result, reason }) => [name, `${result}: ${reason}`])),
  };
}

describe('DnsmasqDomains', () => {
  test('creates exceptions for names with servers only if they are below a denied name', () => {
    expect(mapped(['/bad.example/'], ['/ok.bad.example/#', '/free.example/#']).allowed).toEqual([
      'ok.bad.example',
    ]);
    expect(mapped(['/bad.example/'], ['/ok.bad.example/192.0.2.1']).allowed).toEqual(['ok.bad.example']);
    expect(mapped(['/notbad.example/'], ['/bad.example/#']).allowed).toEqual([]);
  });

  test('forwards names below a record to the default servers, if there are any', () => {
    const [address, server] = [['/big.example/192.0.2.10'], ['/sub.big.example/#']];
    const zones = mapped(address, server, ['192.0.2.53']).document.forward_zones;
    expect(zones).toMatchObject([{ servers: ['192.0.2.53'] }]);
    expect(mapped(address, server).rows['server=/sub.big.example/#']).toMatch(/^not_mapped: /);
  });

  test('creates records with a TTL for the name and for the names below it', () => {
    const { local_records: records } = mapped(['/a.b.example/192.0.2.1'], []).document;
    expect(records.map(({ ttl, value }) => [ttl, value])).toEqual([
      [60, '192.0.2.1'],
      [60, '192.0.2.1'],
    ]);
  });

  test('reports an invalid address, and an unsupported pattern of names', () => {
    const { rows } = mapped(['/a.example/nowhere', '/a b/192.0.2.1'], ['/a b/192.0.2.1']);
    expect(rows['address=/a.example/nowhere']).toBe('not_mapped: it is not a name with an address');
    expect(rows['address=/a b/192.0.2.1']).toBe('not_mapped: Weir does not support this pattern of names');
    expect(rows['server=/a b/192.0.2.1']).toBe('not_mapped: Weir cannot use separate servers for such names');
  });
});
