import { describe, expect, test } from '@jest/globals';
import { isIP } from 'node:net';
import { parseUpstream } from '../../../config/upstream-url.ts';
import { KnownUpstreamList } from '../../../shared/api/upstreams-api.ts';
import { KNOWN_UPSTREAMS } from './known-upstreams.ts';

describe('the table of known upstreams', () => {
  test('is valid in the API, and contains each variant of an operator once', () => {
    expect(() => KnownUpstreamList.parse(KNOWN_UPSTREAMS)).not.toThrow();
    const names = KNOWN_UPSTREAMS.map(({ operator, variant }) => `${operator} ${variant}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('contains only servers with their transport that the configuration accepts, without duplicates', () => {
    const all = KNOWN_UPSTREAMS.flatMap(({ udp, tls, https }) => [...udp, ...tls, ...https]);
    expect(new Set(all).size).toBe(all.length);
    for (const { udp, tls, https } of KNOWN_UPSTREAMS)
      for (const [transport, servers] of Object.entries({ udp, tls, https }))
        for (const server of servers) expect(parseUpstream(server)).toMatchObject({ transport });
  });

  test('contains IP addresses for plain DNS, and host names for encrypted DNS', () => {
    for (const { udp, tls, https } of KNOWN_UPSTREAMS) {
      expect(tls.length).toBeGreaterThan(0);
      for (const server of udp) expect(isIP(parseUpstream(server)!.host)).toBe(4);
      for (const server of [...tls, ...https]) expect(isIP(parseUpstream(server)!.host)).toBe(0);
    }
  });

  test('links to a page of each operator over HTTPS', () => {
    for (const { page } of KNOWN_UPSTREAMS) expect(new URL(page).protocol).toBe('https:');
  });
});
