import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { DNS_MESSAGE_TYPE, MAX_DOH_QUERY_SIZE, readDohTarget } from './doh-target.ts';

describe('readDohTarget()', () => {
  // The first query of RFC 8484 section 4.1.1: www.example.com, type A.
  const ENCODED = 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB';

  test('reads the message of a GET', () => {
    const target = readDohTarget('GET', `/dns-query?dns=${ENCODED}`, '');
    expect(target).toMatchObject({ kind: 'message', clientKey: '' });
    expect(Buffer.from((target as { message: Uint8Array }).message).toString('base64url')).toBe(ENCODED);
  });

  test.each(['/dns-query', '/dns-query/', '/dns-query?ct=x'])('takes a body at %s', (path) => {
    expect(readDohTarget('POST', path, DNS_MESSAGE_TYPE)).toEqual({ kind: 'body', clientKey: '' });
  });

  test('reads the key of a client, folded', () => {
    expect(readDohTarget('POST', '/dns-query/Lenas-Phone', 'Application/DNS-message; charset=x')).toEqual({
      kind: 'body',
      clientKey: 'lenas-phone',
    });
  });

  test.each([
    [404, 'GET', '/'],
    [404, 'GET', '/dns-queryx?dns=AAAA'],
    [404, 'POST', '/dns-query/a/b'],
    [404, 'POST', '/dns-query/-a'],
    [404, 'POST', `/dns-query/${'a'.repeat(64)}`],
    [404, 'POST', '/dns-query/..'],
    [404, 'POST', '/dns-query/a.b'],
    [404, 'POST', 'https://example.org/dns-query'],
    [405, 'PUT', '/dns-query'],
    [405, 'HEAD', '/dns-query?dns=AAAA'],
    [400, 'GET', '/dns-query'],
    [400, 'GET', '/dns-query?dns=AAAA&dns=AAAA'],
    [400, 'GET', '/dns-query?DNS=AAAA'],
    [400, 'GET', '/dns-query?dns=AAAA='],
    [400, 'GET', '/dns-query?dns=AA+A'],
    [400, 'GET', '/dns-query?dns=AAAAA'],
    [414, 'GET', `/dns-query?dns=${'A'.repeat(Math.ceil((MAX_DOH_QUERY_SIZE * 4) / 3) + 1)}`],
    [415, 'POST', '/dns-query'],
  ])('refuses with %i: %s %s', (status, method, path) => {
    expect(readDohTarget(method, path, '')).toEqual({ kind: 'refused', status });
  });

  test('refuses another media type', () => {
    expect(readDohTarget('POST', '/dns-query', 'application/dns-json')).toEqual({
      kind: 'refused',
      status: 415,
    });
  });

  test('takes any octets as a message of a GET, and throws for nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        const target = readDohTarget('GET', `/dns-query?dns=${Buffer.from(bytes).toString('base64url')}`, '');
        expect(target.kind === 'message' && Buffer.compare(target.message, bytes)).toBe(0);
      }),
    );
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (method, path, type) => {
        expect(readDohTarget(method, path, type).kind).toMatch(/message|body|refused/);
      }),
    );
  });
});
