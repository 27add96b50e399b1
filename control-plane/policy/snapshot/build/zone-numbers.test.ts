import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../../../shared/dns/name.ts';
import { zoneNames } from '../../../../shared/policy/zone-text.ts';
import { FIRST_ZONE_UPSTREAM } from '../../../../shared/snapshot/forward-zone-servers.ts';
import { ZoneNumbers } from './zone-numbers.ts';

const zone = (name: string, ...servers: string[]) => ({ zone: name, names: zoneNames(name), servers });

describe('ZoneNumbers.number()', () => {
  test('gives each definition of a zone its own cache partition, and keeps it for the same definition', () => {
    const numbers = new ZoneNumbers();
    const partitions = (...zones: ReturnType<typeof zone>[]): number[] =>
      numbers.number(zones).map(({ partition }) => partition);
    const one = zone('a.example', '192.0.2.1');
    const moved = zone('a.example', '192.0.2.2');
    expect(partitions(one, zone('b.example', '192.0.2.1'))).toEqual([1, 2]);
    expect(partitions(moved)).toEqual([3]);
    expect(partitions(one)).toEqual([1]);
  });

  test('gives equal servers the same index, above the indexes of pool servers', () => {
    const numbers = new ZoneNumbers();
    const [first, second] = numbers.number([
      zone('a.example', '192.0.2.1', 'tcp://192.0.2.2'),
      zone('b.example', 'tcp://192.0.2.2'),
    ]);
    expect(first!.upstreamNumbers).toEqual([FIRST_ZONE_UPSTREAM, FIRST_ZONE_UPSTREAM + 1]);
    expect(second!.upstreamNumbers).toEqual([FIRST_ZONE_UPSTREAM + 1]);
    expect(numbers.upstreamOf(FIRST_ZONE_UPSTREAM + 1)).toBe('tcp://192.0.2.2');
    expect(numbers.upstreamOf(1)).toBeUndefined();
  });

  test('returns the reverse zones of a network', () => {
    const [reverse] = new ZoneNumbers().number([zone('192.0.2.0/23', '192.0.2.1')]);
    expect(reverse!.names.map(nameToText)).toEqual(['2.0.192.in-addr.arpa', '3.0.192.in-addr.arpa']);
  });

  test('reuses the oldest unused cache partition when all have been assigned', () => {
    const numbers = new ZoneNumbers();
    const kept = zone('kept.example', '192.0.2.1');
    numbers.number([kept, zone('old.example', '192.0.2.1')]);
    for (let i = 3; i <= 0xffff; i++) numbers.number([zone(`z${i}.example`, '192.0.2.1')]);
    const [first, second] = numbers.number([kept, zone('new.example', '192.0.2.1')]);
    expect([first!.partition, second!.partition]).toEqual([1, 2]);
  });
});
