import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { addCname, addDhcpHost } from './dnsmasq-records.ts';

describe('addCname()', () => {
  test('reads several names, and a TTL', () => {
    const builder = new PlanBuilder();
    for (const line of ['a.lan,b.lan,c.lan,60', 'd.lan,e.lan', 'alone']) addCname(builder, line);
    expect(builder.finish('pihole').document.local_records).toMatchObject([
      { hostname: 'a', domain: 'lan', value: 'c.lan', ttl: 60 },
      { hostname: 'b', domain: 'lan', value: 'c.lan', ttl: 60 },
      { hostname: 'd', domain: 'lan', value: 'e.lan', ttl: 300 },
    ]);
  });
});

describe('addDhcpHost()', () => {
  test('gives the client with the MAC its name', () => {
    const builder = new PlanBuilder();
    for (const line of ['02:00:5e:00:00:01,192.0.2.7,tv,24h', '192.0.2.8,box']) addDhcpHost(builder, line);
    const { document, items } = builder.finish('pihole');
    expect(document.clients).toMatchObject([{ mac_address: '02:00:5e:00:00:01', name: 'tv', group: null }]);
    expect(items.at(-1)).toMatchObject({ result: 'not_mapped' });
  });
});
