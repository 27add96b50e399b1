import { describe, expect, test } from '@jest/globals';
import { DNS_MESSAGE_TYPE, MAX_DOH_QUERY_SIZE, readDohTarget, smallestTtl } from './doh-target.ts';
import { encode } from 'dns-packet';
import fc from '../../test/support/parts/fast-check.ts';

describe('readDohTarget(), which parses the target of a DNS over HTTPS request,', () => {
  // The first query of RFC 8484 section 4.1.1: www.example.com, type A.
  const ENCODED = 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB';

  test('returns the message of a GET request', () => {
    const target = readDohTarget('GET', `/dns-query?dns=${ENCODED}`, '');
    expect(target).toMatchObject({ kind: 'message', clientKey: '' });
    expect(Buffer.from((target as { message: Uint8Array }).message).toString('base64url')).toBe(ENCODED);
  });

  test.each(['/dns-query', '/dns-query/', '/dns-query?ct=x'])(
    'accepts a POST body for the path %s',
    (path) => {
      expect(readDohTarget('POST', path, DNS_MESSAGE_TYPE)).toEqual({ kind: 'body', clientKey: '' });
    },
  );

  test('returns the client key in the path in lower case', () => {
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
  ])('rejects with status %i: %s %s', (status, method, path) => {
    expect(readDohTarget(method, path, '')).toEqual({ kind: 'refused', status });
  });

  test('rejects another media type', () => {
    expect(readDohTarget('POST', '/dns-query', 'application/dns-json')).toEqual({
      kind: 'refused',
      status: 415,
    });
  });

  test('accepts any bytes as the message of a GET request, and never throws', () => {
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

type Sections = Pick<Parameters<typeof encode>[0], 'answers' | 'authorities' | 'additionals'>;

/** A reply to a query for www.example.org. */
function replyOf(sections: Sections): Uint8Array {
  return encode({
    type: 'response',
    id: 1,
    questions: [{ type: 'A', name: 'www.example.org' }],
    ...sections,
  });
}

const address = (ttl: number) => ({ type: 'A', name: 'www.example.org', ttl, data: '192.0.2.1' }) as const;
const soa = (ttl: number, minimum: number) => {
  const data = {
    mname: 'ns.example.org',
    rname: 'root.example.org',
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
  };
  return { type: 'SOA', name: 'example.org', ttl, data: { ...data, minimum } } as const;
};
const opt = { type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0, options: [] } as const;

describe('smallestTtl(), the lifetime of an HTTP response,', () => {
  test.each<[string, Sections, number]>([
    ['the smallest of the answer', { answers: [address(300), address(20), address(60)] }, 20],
    [
      'that of the answer, whatever else there is',
      { answers: [address(300)], authorities: [soa(5, 5)] },
      300,
    ],
    ['that of a negative answer: the SOA record', { authorities: [soa(30, 900)] }, 30],
    ['that of a negative answer: its MINIMUM', { authorities: [soa(900, 30)] }, 30],
    ['0 if there is nothing to keep', { additionals: [opt as never] }, 0],
  ])('is %s', (_what, sections, expected) => {
    expect(smallestTtl(replyOf(sections))).toBe(expected);
  });

  test('is 0 for a reply without a question section', () => {
    expect(smallestTtl(new Uint8Array(12))).toBe(0);
  });
});
