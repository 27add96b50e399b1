import { describe, expect, test } from '@jest/globals';
import { readRewriteValue } from './rewrite-value.ts';

/** An answer with a record; `rdata` contains its bytes. */
function record(type: number, rdata: string): object {
  return { rcode: 0, record: { type, rdata } };
}

describe('readRewriteValue()', () => {
  test.each([
    ['', { rcode: 0 }],
    ['REFUSED', { rcode: 5 }],
    ['servfail', { rcode: 2 }],
    ['noerror', { rcode: 0 }],
    ['NOERROR;;', { rcode: 0 }],
    ['SERVFAIL;;', { rcode: 2 }],
    ['NXDOMAIN;A;192.0.2.7', { rcode: 3 }],
    ['192.0.2.7', record(1, 'c0000207')],
    ['2001:db8::7', record(28, '20010db8000000000000000000000007')],
    ['Safe.Example.', { rcode: 0, host: 'safe.example' }],
    ['bücher.example', { rcode: 0, host: 'xn--bcher-kva.example' }],
    ['NOERROR;cname;safe.example', { rcode: 0, host: 'safe.example' }],
    ['NOERROR;TXT;a;b', record(16, '03613b62')],
    ['NOERROR;PTR;a.example.', record(12, '0161076578616d706c6500')],
    ['NOERROR;MX;10 m.example', record(15, '000a016d076578616d706c6500')],
    ['NOERROR;SRV;0 0 0 .', record(33, '00000000000000')],
    ['NOERROR;HTTPS;1 . alpn=h3 port=8443', record(65, '000100000100030268330003000220fb')],
    ['NOERROR;HTTPS;1 . port=8443 alpn=h3', record(65, '000100000100030268330003000220fb')],
    ['NOERROR;HTTPS;0 t.example', record(65, '00000174076578616d706c6500')],
    ['NOERROR;SVCB;1 . ipv4hint=127.0.0.1', record(64, '000100000400047f000001')],
    ['NOERROR;SVCB;1 . no-default-alpn=', record(64, '00010000020000')],
    [
      'NOERROR;HTTPS;1 . ipv6hint=abcd::1 mandatory=ipv6hint',
      record(65, '00010000000002000600060010abcd0000000000000000000000000001'),
    ],
    [
      'NOERROR;HTTPS;1 . dohpath=/dns-query{?dns}',
      record(65, '000100000700102f646e732d71756572797b3f646e737d'),
    ],
    ['NOERROR;HTTPS;1 . ech=aGVsbG8=', record(65, '0001000005000568656c6c6f')],
  ])('reads "%s"', (value, rewrite) => {
    expect(readRewriteValue(value)).toEqual(rewrite);
  });

  test.each([
    ['FORMERR', '$dnsrewrite to a value that is not a response code, an address or a host name'],
    ['localhost', '$dnsrewrite to a value that is not a response code, an address or a host name'],
    ['a..example', '$dnsrewrite to a value that is not a response code, an address or a host name'],
    [
      `${'a.'.repeat(124)}example`,
      '$dnsrewrite to a value that is not a response code, an address or a host name',
    ],
    ['NOPE;;', '$dnsrewrite with an unknown response code: NOPE'],
    ['NOERROR;NS;a.example', '$dnsrewrite to a record of this type is not supported: NS'],
    ['NOERROR;A;2001:db8::7', '$dnsrewrite with data that is not valid for type A'],
    ['NOERROR;AAAA;192.0.2.7', '$dnsrewrite with data that is not valid for type AAAA'],
    ['NOERROR;A;a.example', '$dnsrewrite with data that is not valid for type A'],
    ['NOERROR;CNAME;192.0.2.1', '$dnsrewrite with data that is not valid for type CNAME'],
    ['NOERROR;MX;m.example', '$dnsrewrite with data that is not valid for type MX'],
    ['NOERROR;MX;65536 m.example', '$dnsrewrite with data that is not valid for type MX'],
    ['NOERROR;HTTPS;0 . alpn=h2', '$dnsrewrite with data that is not valid for type HTTPS'],
    ['NOERROR;HTTPS;1 . alpn=h2 alpn=h3', '$dnsrewrite with data that is not valid for type HTTPS'],
    ['NOERROR;HTTPS;1 . key9=x', '$dnsrewrite with data that is not valid for type HTTPS'],
    ['NOERROR;HTTPS;1 . ipv4hint=::1', '$dnsrewrite with data that is not valid for type HTTPS'],
    [`NOERROR;TXT;${'x'.repeat(1025)}`, '$dnsrewrite to a TXT record of more than 1024 bytes'],
  ])('reports why "%s" cannot be used', (value, reason) => {
    expect(readRewriteValue(value)).toBe(reason);
  });
});
