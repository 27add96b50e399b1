import { describe, expect, test } from '@jest/globals';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { reportOtherKeys } from './other-keys.ts';

/** The rows of these keys. */
function rowsOf(others: Readonly<Record<string, unknown>>, upstreams: readonly string[] = []) {
  const builder = new PlanBuilder();
  reportOtherKeys(builder, { others: new Map(Object.entries(others)), upstreams });
  return builder.finish('pihole').items.map(({ name, result }) => [name, result]);
}

describe('reportOtherKeys()', () => {
  test('reports each setting that differs from the default, and no others', () => {
    expect(rowsOf({ 'dns.port': 53, 'dns.cache.size': 10_000, 'dns.CNAMEdeepInspect': true })).toEqual([]);
    expect(rowsOf({ 'dns.port': 5353, 'dns.CNAMEdeepInspect': false })).toEqual([
      ['dns.CNAMEdeepInspect false', 'differs'],
      ['dns.port 5353', 'not_mapped'],
    ]);
  });

  test('reports the name of a section of program settings, but not its content', () => {
    const rows = rowsOf({ 'webserver.api.pwhash': '$BALLOON$secret', 'webserver.port': '80' });
    expect(rows).toEqual([['webserver', 'skipped']]);
  });

  test('reports the address of the Pi-hole itself if it is configured', () => {
    expect(rowsOf({ 'dns.reply.host.IPv4': '192.0.2.2', 'dns.reply.host.IPv6': '' })).toEqual([
      ['dns.reply.host.IPv4 192.0.2.2', 'not_mapped'],
    ]);
  });

  test('reports names that Weir answers differently, if there are upstream servers', () => {
    expect(rowsOf({}, ['192.0.2.53#53']).map(([name]) => name)).toEqual([
      'names whose alias is denied',
      'pi.hole',
      'names below .local',
    ]);
    expect(rowsOf({ 'dns.CNAMEdeepInspect': false }, ['192.0.2.53#53'])).not.toContainEqual([
      'names whose alias is denied',
      'differs',
    ]);
  });
});
