import { describe, expect, test } from '@jest/globals';
import { isIP } from 'node:net';
import { parseUpstream } from '../../../config/upstream-url.ts';
import { KnownUpstreamList } from '../../../shared/api/upstreams-api.ts';
import { KNOWN_UPSTREAMS } from './known-upstreams.ts';

describe('KNOWN_UPSTREAMS', () => {
  test('have the form of the API, and each variant of an operator once', () => {
    expect(() => KnownUpstreamList.parse(KNOWN_UPSTREAMS)).not.toThrow();
    const names = KNOWN_UPSTREAMS.map(({ operator, variant }) => `${operator} ${variant}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('name servers of their transport that the configuration accepts, each once', () => {
    const all = KNOWN_UPSTREAMS.flatMap(({ udp, tls, https }) => [...udp, ...tls, ...https]);
    expect(new Set(all).size).toBe(all.length);
    for (const { udp, tls, https } of KNOWN_UPSTREAMS)
      for (const [transport, servers] of Object.entries({ udp, tls, https }))
        for (const server of servers) expect(parseUpstream(server)).toMatchObject({ transport });
  });

  test('are reached in the clear without another resolver, and encrypted by a name', () => {
    for (const { udp, tls, https } of KNOWN_UPSTREAMS) {
      expect(tls.length).toBeGreaterThan(0);
      for (const server of udp) expect(isIP(parseUpstream(server)!.host)).toBe(4);
      for (const server of [...tls, ...https]) expect(isIP(parseUpstream(server)!.host)).toBe(0);
    }
  });

  test('link to a page of each operator over HTTPS', () => {
    for (const { page } of KNOWN_UPSTREAMS) expect(new URL(page).protocol).toBe('https:');
  });
});
