/** Validation and its records, as clients see them. */
import { EVERY, row, without } from './conformance-case.ts';
import type { ConformanceCase } from './conformance-case.ts';

const UDP = ['udp'] as const;
const NOERROR = /status: NOERROR/;

export const DNSSEC_CASES: readonly ConformanceCase[] = [
  row(
    'RFC 3225 section 3',
    'DO returns signatures, and is set in the response',
    ['dig', EVERY],
    '+dnssec www.zone.example A',
    /RRSIG\s+A 13 3/,
    /flags: do;/,
  ),
  without(
    row(
      'RFC 3225 section 3',
      'returns no signatures without DO',
      ['dig', EVERY],
      '+nodnssec www.zone.example A',
      NOERROR,
    ),
    /RRSIG/,
  ),
  row(
    'RFC 4035 section 3.2.3',
    'a secure answer has AD for a query with DO',
    ['kdig', EVERY],
    '+dnssec www.zone.example A',
    /Flags: qr rd ra ad/,
  ),
  row(
    'RFC 6840 section 5.8',
    'and for AD',
    ['dig', EVERY],
    '+adflag www.zone.example A',
    /flags: qr rd ra ad;/,
  ),
  without(
    row(
      'RFC 6840 section 5.8',
      'and for neither',
      ['dig', ['udp', 'dot']],
      '+noadflag +nodnssec www.zone.example A',
      NOERROR,
    ),
    /flags:[^;]* ad/,
  ),
  without(
    row(
      'RFC 4035 section 3.2.3',
      'an answer without a chain of trust has no AD',
      ['dig', EVERY],
      '+adflag www.plain.example A',
      NOERROR,
      /192\.0\.2\.80/,
    ),
    /flags:[^;]* ad/,
  ),
  row(
    'RFC 4035 section 5.5',
    'a broken signature is SERVFAIL',
    ['dig', EVERY],
    'www.bogus.example A',
    /status: SERVFAIL/,
    /EDE: (6|9)/,
  ),
  without(
    row(
      'RFC 4035 section 3.2.2',
      'CD returns an unproven answer without AD',
      ['dig', EVERY],
      '+cdflag +adflag www.bogus.example A',
      NOERROR,
      /192\.0\.2\.80/,
      /flags:[^;]* cd/,
    ),
    /flags:[^;]* ad/,
  ),
  row(
    'RFC 4035 section 3.1.3.2',
    'NXDOMAIN includes its proof',
    ['kdig', ['udp', 'doh']],
    '+dnssec no.zone.example A',
    /NXDOMAIN/,
    /NSEC/,
    /Flags: qr rd ra ad/,
  ),
  row(
    'RFC 4035 section 3.1.3.1',
    'NODATA includes its proof',
    ['kdig', ['udp', 'doh']],
    '+dnssec www.zone.example MX',
    NOERROR,
    /NSEC/,
    /Flags: qr rd ra ad/,
  ),
  row(
    'RFC 4035 section 3.1.3.3',
    'an answer from a wildcard includes its proof',
    ['kdig', UDP],
    '+dnssec x.wild.zone.example A',
    /192\.0\.2\.81/,
    /NSEC/,
    /Flags: qr rd ra ad/,
  ),
  row(
    'RFC 4035 section 3.1.4.1',
    'DS records are those of the parent',
    ['dig', EVERY],
    '+adflag zone.example DS',
    /DS\s+\d+ 13 2 /,
    /flags: qr rd ra ad;/,
  ),
  row(
    'RFC 4035 section 3.1.1',
    'DNSKEY records are returned',
    ['drill', ['udp', 'tcp']],
    '-D zone.example DNSKEY',
    /DNSKEY\s+257 3 13/,
  ),
  row(
    'RFC 4035 section 5.3.4',
    'drill validates the answer',
    ['drill', ['tcp']],
    '-D www.zone.example A',
    /RRSIG\s+A 13 3/,
  ),
];
