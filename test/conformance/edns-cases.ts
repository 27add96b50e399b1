/** EDNS and its options, sizes and truncation. */
import { EVERY, row, STREAMS, without } from './conformance-case.ts';
import type { ConformanceCase } from './conformance-case.ts';

const UDP = ['udp'] as const;
const NOERROR = /status: NOERROR/;

export const EDNS_CASES: readonly ConformanceCase[] = [
  row(
    'RFC 6891 section 6.1.1',
    'OPT is answered with OPT',
    ['dig', EVERY],
    '+edns=0 www.zone.example A',
    /OPT PSEUDOSECTION/,
    NOERROR,
  ),
  without(
    row(
      'RFC 6891 section 6.1.1',
      'a query without OPT is answered without OPT',
      ['dig', EVERY],
      '+noedns +nocookie www.zone.example A',
      NOERROR,
    ),
    /OPT PSEUDOSECTION/,
  ),
  row(
    'RFC 6891 section 6.1.3',
    'another version is BADVERS',
    ['dig', EVERY],
    '+edns=1 +noednsneg www.zone.example A',
    /status: BADVERS/,
    /version: 0/,
  ),
  row(
    'RFC 6891 section 6.1.2',
    'unknown options are ignored',
    ['dig', EVERY],
    '+ednsopt=65001:abcd www.zone.example A',
    NOERROR,
  ),
  without(
    row(
      'RFC 6891 section 6.1.4',
      'unknown flags are not returned',
      ['dig', ['udp', 'dot']],
      '+ednsflags=0x4040 www.zone.example A',
      NOERROR,
    ),
    /MBZ/,
  ),
  row(
    'RFC 6891 section 6.1.1',
    'two OPT records are FORMERR',
    ['dnspython', ['udp', 'tcp', 'dot']],
    'edns=0,opts=2',
    /FORMERR|HEADER rcode 1/,
  ),
  row(
    'RFC 6891 section 6.1.2',
    'an option longer than its OPT record is FORMERR',
    ['dnspython', UDP],
    'wire=12340100000100000000000103777777047a6f6e65076578616d706c6500000100010000290200000000000004fde90010',
    /FORMERR|HEADER rcode 1/,
  ),
  row(
    'RFC 9715 section 3.1',
    'answers over UDP have at most 1232 octets',
    ['dig', UDP],
    '+bufsize=4096 www.zone.example A',
    /udp: 1232/,
  ),
  row(
    'RFC 2181 section 9',
    'an answer that does not fit is truncated with TC',
    ['dig', UDP],
    '+ignore +noedns big.zone.example TXT',
    /flags: qr tc/,
    /ANSWER: 0,/,
  ),
  row(
    'RFC 6891 section 6.2.5',
    'a size below 512 counts as 512',
    ['dig', UDP],
    '+ignore +bufsize=100 text.zone.example TXT',
    NOERROR,
    /ANSWER: 1,/,
  ),
  row(
    'RFC 1035 section 4.2.1',
    'a client that receives TC retries over TCP',
    ['dig', UDP],
    'many.zone.example TXT',
    /\(TCP\)/,
    /ANSWER: 200,/,
  ),
  row(
    'RFC 1035 section 4.2.2',
    'streams carry large answers completely',
    ['dig', STREAMS],
    'many.zone.example TXT',
    /ANSWER: 200,/,
    /MSG SIZE {2}rcvd: 5\d{4}/,
  ),
  row(
    'RFC 7873 section 5.2.3',
    'a client cookie is answered with a server cookie',
    ['dig', EVERY],
    '+cookie www.zone.example A',
    /COOKIE: [0-9a-f]{48} \(good\)/,
  ),
  row(
    'RFC 7873 section 5.2.2',
    'a cookie of a wrong length is FORMERR',
    ['dnspython', UDP],
    'edns=0,option=10:0011223344',
    /FORMERR|HEADER rcode 1/,
  ),
  row(
    'RFC 7873 section 5.4',
    'a cookie may be requested without a question',
    ['dnspython', UDP],
    'qd=0,edns=0,option=10:0011223344556677',
    /OPTION 10 0011223344556677[0-9a-f]{32}/,
  ),
  row(
    'RFC 8467 section 4.1',
    'a padded query is answered with 468 octets',
    ['kdig', ['dot', 'doh']],
    '+padding www.zone.example A',
    /PADDING/,
    /Received 468 B/,
  ),
  without(
    row(
      'RFC 8467 section 4',
      'unencrypted replies are not padded',
      ['kdig', ['udp', 'tcp']],
      '+padding=64 www.zone.example A',
      NOERROR,
    ),
    /PADDING: \d+ B/,
  ),
  row(
    'RFC 7828 section 3.2.2',
    'the idle timeout is returned on request',
    ['dnspython', ['tcp', 'dot']],
    'edns=0,option=11:',
    /OPTION 11 [0-9a-f]{4}/,
  ),
  without(
    row(
      'RFC 7828 section 3.2.1',
      'no idle timeout is returned over UDP',
      ['dnspython', UDP],
      'edns=0,option=11:',
      NOERROR_TEXT(),
    ),
    /OPTION 11/,
  ),
  without(
    row(
      'RFC 7871 section 7.1.2',
      'a client subnet that is not forwarded is not answered',
      ['dig', ['udp', 'dot']],
      '+subnet=198.51.100.0/24 www.zone.example A',
      NOERROR,
    ),
    /CLIENT-SUBNET/,
  ),
  row(
    'RFC 8914 section 4.16',
    'an answer for a blocked name has the extended error',
    ['dig', EVERY],
    'blocked.zone.example A',
    /EDE: 15 \(Blocked\)/,
  ),
  without(
    row(
      'RFC 8914 section 3',
      'an answer without OPT has no extended error',
      ['dig', UDP],
      '+noedns +nocookie blocked.zone.example A',
      NOERROR,
    ),
    /EDE/,
  ),
];

function NOERROR_TEXT(): RegExp {
  return /rcode NOERROR/;
}
