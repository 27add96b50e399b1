/** The zones of the conformance run: one is signed, one has broken signatures, one is unsigned. */
import type { LabZone } from '../lab/dnssec/zones.ts';

const TEXT = (size: number): string => `"${'x'.repeat(size)}"`;
const TEXTS = (count: number): string =>
  Array.from({ length: count }, (_, i) => `many TXT "${String(i)}" ${TEXT(250)}`).join('\n');

const RECORDS = `mail MX 10 mx1.mail
mail MX 20 mx2.mail
text TXT "one" "two; three" "\\"quoted\\""
_sip._tcp SRV 10 60 5060 sip
caa CAA 0 issue "ca.example.net"
naptr NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .
tlsa TLSA 3 1 1 ${'ab'.repeat(32)}
sshfp SSHFP 4 2 ${'cd'.repeat(32)}
uri URI 10 1 "https://www.example.net/"
loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m
hinfo HINFO "CPU" "OS"
unknown TYPE65280 \\# 4 01020304
svc SVCB 1 svc4 alpn=h2 port=8443
svc4 A 192.0.2.84
https HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.85
https A 192.0.2.85
chain CNAME chain2
chain2 CNAME chain3
chain3 CNAME www
gone CNAME nowhere
tree DNAME real
host.real A 192.0.2.86
UPPER A 192.0.2.87
ptr PTR www
short 1 A 192.0.2.88
six A 192.0.2.90
six A 192.0.2.91
six A 192.0.2.92
big TXT ${Array.from({ length: 8 }, () => TEXT(200)).join(' ')}
${TEXTS(200)}
blocked A 192.0.2.93
`;

/** Changes a byte early in each signature of `www`, after the signer's name. */
function breakSignatures(lines: string[]): string[] {
  const other = (_: string, signer: string, a: string, b: string): string =>
    `${signer}${b}${a === b ? 'A' : a}`;
  return lines.map((line) =>
    /^www\..*\sRRSIG\s/.test(line) ? line.replace(/(\S+\. )(\S)(\S)/, other) : line,
  );
}

/** The zones in the form that `sign-zones.ts` reads. */
export const ZONES: readonly LabZone[] = [
  { name: '' },
  { name: 'zone.example', records: RECORDS },
  { name: 'bogus.example', edit: breakSignatures },
  { name: 'plain.example', algorithm: null, ds: 'none' },
];
