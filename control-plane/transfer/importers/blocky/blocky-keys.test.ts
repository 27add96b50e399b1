import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { readBlockyUpstream } from './blocky-upstream.ts';
import { mapBlocky } from './map-blocky.ts';
import { fitsGlob } from './name-glob.ts';
import { readBlocky } from './read-blocky.ts';

const planOf = (text: string) => mapBlocky(readBlocky(new Map([[ONLY_TEXT, Buffer.from(text)]])));

describe('mapBlockyKeys()', () => {
  test('reads a number without a unit as minutes, and limits values to the allowed range', () => {
    const { keys } = planOf(
      'blocking: {blockTTL: 9999999, blockType: zeroIP}\ncaching: {minTime: 1h30m, maxTime: -1}\nupstreams: {timeout: 1ms}\n',
    );
    expect(Object.fromEntries(keys.map(({ key, value }) => [key, value]))).toEqual({
      'dns.query_timeout_ms': 1000,
      'blocking.mode': 'null_ip',
      'blocking.ttl_secs': 86_400,
      'cache.min_ttl_secs': 5400,
      'cache.enabled': false,
    });
  });

  test('refuses a file without sections, and treats values of a wrong type as missing', () => {
    expect(() => planOf('- blocking')).toThrow('not a configuration of blocky');
    expect(
      planOf('blocking: [1]\nupstreams: 5\ncustomDNS: {mapping: [a], zone: {}}\nclientLookup: x\n').keys,
    ).toEqual([]);
  });
});

describe('readBlockyUpstream()', () => {
  test.each([
    ['1.1.1.1', '1.1.1.1'],
    ['tcp+udp:192.0.2.53:5353', '192.0.2.53:5353'],
    ['udp:[2001:db8::53]:53', '[2001:db8::53]:53'],
    ['tcp:192.0.2.53', 'tcp://192.0.2.53'],
    ['tcp-tls:dns.example.org:853', 'tls://dns.example.org:853'],
    ['tcp-tls:192.0.2.9:853#dns.example.org', 'tls://dns.example.org:853@192.0.2.9'],
    ['tcp-tls:[2001:db8::9]#dns.example.org', 'tls://dns.example.org@[2001:db8::9]'],
    ['https://dns.example.org/dns-query', 'https://dns.example.org/dns-query'],
    ['https:dns.example.org/q', 'https://dns.example.org/q'],
    ['dns.example.org', 'udp://dns.example.org'],
    ['quic:dns.example.org', null],
    ['https://me:secret@dns.example.org/q', null],
    ['', null],
    ['::::', null],
  ])('reads %s as %s', (written, server) => {
    expect(readBlockyUpstream(written)).toMatchObject({ server });
  });
});

describe('fitsGlob()', () => {
  test.each([
    ['tablet*', 'Tablet-A', true],
    ['*', '', true],
    ['exam[0-9]', 'exam7', true],
    ['exam[!0-9]', 'exam7', false],
    ['exam[0-9]', 'examx', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['a.c', 'abc', false],
    ['[', '[', true],
  ])('for pattern %s and %s is %p', (pattern, name, fits) => {
    expect(fitsGlob(pattern, name)).toBe(fits);
  });

  test('needs little time for a hostile pattern', () => {
    expect(fitsGlob('*a'.repeat(500), `${'a'.repeat(400)}b`)).toBe(false);
  });
});
