import { describe, expect, test } from '@jest/globals';
import { Rcode, RRType } from '../../../shared/dns/iana.ts';
import { replyKindOf } from './reply-kind.ts';

describe('replyKindOf()', () => {
  test.each([
    [Rcode.NOERROR, 0, 'NODATA'],
    [Rcode.NOERROR, RRType.A, 'IP'],
    [Rcode.NOERROR, RRType.AAAA, 'IP'],
    [Rcode.NOERROR, RRType.CNAME, 'CNAME'],
    [Rcode.NOERROR, RRType.PTR, 'DOMAIN'],
    [Rcode.NOERROR, RRType.DNSKEY, 'DNSSEC'],
    [Rcode.NOERROR, RRType.TXT, 'BLOB'],
    [Rcode.NOERROR, RRType.MX, 'BLOB'],
    [Rcode.NOERROR, RRType.SRV, 'BLOB'],
    [Rcode.NOERROR, RRType.SOA, 'BLOB'],
    [Rcode.NOERROR, RRType.HTTPS, 'BLOB'],
    [Rcode.NOERROR, undefined, 'UNKNOWN'],
    [Rcode.NXDOMAIN, 0, 'NXDOMAIN'],
    [Rcode.REFUSED, undefined, 'REFUSED'],
    [Rcode.FORMERR, 0, 'OTHER'],
  ])('of rcode %i and first type %s is %s, as in Pi-hole FTL', (rcode, type, kind) => {
    expect(replyKindOf(rcode, type)).toBe(kind);
  });
});
