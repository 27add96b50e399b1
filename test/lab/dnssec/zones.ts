/**
 * The zones of the DNSSEC lab: a private root, `test` below it, and below that a zone for each correct or faulty
 * configuration. `sign-zones.ts` signs them, `cases.ts` has the questions.
 */

/** Properties of a zone; an omitted property has its correct value. */
export interface LabZone {
  /** Name of the zone without a trailing dot; '' is the root. */
  readonly name: string;
  /** Mnemonic of dnssec-keygen; null = not signed. Default: ECDSAP256SHA256. */
  readonly algorithm?: string | null;
  /** NSEC3 instead of NSEC. */
  readonly nsec3?: { readonly iterations: number; readonly optOut?: boolean; readonly salt?: string };
  /** DS records in the parent. By default, their digest is `sha256`; a function edits the lines of the DS records. */
  readonly ds?: 'sha256' | 'sha1' | 'sha384' | 'none' | ((lines: string[]) => string[]);
  /** Digests of the DS records that the function `ds` edits. */
  readonly digests?: readonly string[];
  /** Inception and expiration in the format of dnssec-signzone. */
  readonly validity?: readonly [string, string];
  /** Records in addition to `COMMON_RECORDS`. */
  readonly records?: string;
  /** More DNSKEY records, derived from the zone's own. */
  readonly moreKeys?: (key: string) => string;
  /** Edits the signed zone, with one record per line and full names. */
  readonly edit?: (lines: string[]) => string[];
}

/** `dnssec-signzone` writes owner, TTL, class and type, and for RRSIG the covered type. */
const isRecord =
  (owner: RegExp, type: string) =>
  (line: string): boolean => {
    const [name = '', , , ...rest] = line.split(/\s+/);
    return owner.test(name) && rest.join(' ').startsWith(`${type} `);
  };

const WWW = /^www\./;
const ANY = /./;

/** Removes the records that a predicate selects. */
const without =
  (...tests: ((line: string) => boolean)[]) =>
  (lines: string[]): string[] =>
    lines.filter((line) => !tests.some((test) => test(line)));

/** Changes the records that a predicate selects. */
const changing =
  (test: (line: string) => boolean, change: (line: string) => string) =>
  (lines: string[]): string[] =>
    lines.map((line) => (test(line) ? change(line) : line));

/** Changes a byte early in the signature, after the signer's name. */
function breakSignature(line: string): string {
  return line.replace(
    /(\S+\. )(\S)(\S)/,
    (_, signer: string, a: string, b: string) => `${signer}${b}${a === b ? 'A' : a}`,
  );
}

const dsField =
  (index: number, value: string) =>
  (lines: string[]): string[] =>
    lines.map((line) => {
      const fields = line.split(/\s+/);
      const at = fields.indexOf('DS') + 1 + index;
      fields[at] = value;
      return fields.join(' ');
    });

/** Replaces the first digits of the digest. */
const breakDigest = (line: string): string =>
  line.replace(
    /( DS \d+ \d+ \d+ )(..)/,
    (_, head: string, octet: string) => `${head}${octet === '00' ? '11' : '00'}`,
  );

const week = (weeks: number): string => `now${weeks < 0 ? '-' : '+'}${String(Math.abs(weeks) * 7 * 86_400)}`;

/** Zones that are secure in every respect, by algorithm and kind of denial. */
export const SOUND_ZONES: readonly LabZone[] = [
  { name: 'a8.test', algorithm: 'RSASHA256' },
  { name: 'a10.test', algorithm: 'RSASHA512' },
  {
    name: 'a13.test',
    records: `
to-secure CNAME www.a8.test.
to-nothing CNAME nothing.a8.test.
to-unsigned CNAME www.unsigned.test.
to-unsigned-nothing CNAME nothing.unsigned.test.
to-bogus CNAME www.bad-signature.test.
*.stars CNAME www.a8.test.
sound DNAME a8.test.
open DNAME unsigned.test.
broken DNAME bad-signature.test.
`,
  },
  { name: 'a14.test', algorithm: 'ECDSAP384SHA384' },
  { name: 'a15.test', algorithm: 'ED25519' },
  { name: 'a16.test', algorithm: 'ED448' },
  { name: 'a8-nsec3.test', algorithm: 'RSASHA256', nsec3: { iterations: 0 } },
  { name: 'a13-nsec3.test', nsec3: { iterations: 0 } },
  { name: 'iterations-10.test', nsec3: { iterations: 10, salt: 'aabbccdd' } },
  { name: 'iterations-50.test', nsec3: { iterations: 50, salt: 'aabbccdd' } },
];

/** Zones without proof, and zones whose proof is unusable. */
const OPEN_ZONES: readonly LabZone[] = [
  { name: 'unsigned.test', algorithm: null, ds: 'none', records: 'to-secure CNAME www.a13.test.\n' },
  { name: 'island.test', ds: 'none' },
  { name: 'a5.test', algorithm: 'RSASHA1' },
  { name: 'a7.test', algorithm: 'NSEC3RSASHA1', nsec3: { iterations: 0 } },
  { name: 'iterations-60.test', nsec3: { iterations: 60 } },
  { name: 'iterations-150.test', nsec3: { iterations: 150 } },
  { name: 'iterations-2500.test', nsec3: { iterations: 2500 } },
  { name: 'unknown-algorithm.test', ds: dsField(1, '200') },
  { name: 'unknown-digest.test', ds: dsField(2, '200') },
  { name: 'private-algorithm.test', ds: dsField(1, '253') },
];

/** Zones that are secure although they are unusual. */
const ODD_ZONES: readonly LabZone[] = [
  { name: 'ds-sha1.test', ds: 'sha1' },
  { name: 'ds-sha384.test', ds: 'sha384' },
  {
    name: 'ds-sha1-broken.test',
    digests: ['SHA-1', 'SHA-256'],
    ds: (lines) => lines.map((line) => (/ DS \d+ \d+ 1 /.test(line) ? breakDigest(line) : line)),
  },
  {
    name: 'ds-extra.test',
    ds: (lines) => [...lines, ...lines.map((line) => breakDigest(line).replace(/ DS \d+/, ' DS 4711'))],
  },
  { name: 'ds-extra-unknown.test', ds: (lines) => [...lines, ...dsField(1, '200')(lines)] },
  {
    name: 'shouting.test',
    edit: changing(isRecord(WWW, 'A'), (line) => line.replace('www.shouting.test', 'WWW.Shouting.TEST')),
  },
  {
    name: 'raised-ttl.test',
    edit: changing(isRecord(WWW, 'A'), (line) => line.replace(/\s\d+\s/, ' 7200 ')),
  },
  {
    name: 'extra-signature.test',
    edit: (lines) => [...lines, ...lines.filter(isRecord(WWW, 'RRSIG A')).map(breakSignature)],
  },
  { name: 'optout.test', nsec3: { iterations: 0, optOut: true } },
  { name: 'signed.optout.test' },
  { name: 'unsigned.optout.test', algorithm: null, ds: 'none' },
  { name: 'child.a13.test' },
  { name: 'child.a13-nsec3.test', nsec3: { iterations: 1 } },
  { name: 'two.labels.a13.test' },
  { name: 'plain.a13.test', algorithm: null, ds: 'none' },
  { name: 'child.plain.a13.test' },
];

/** Zones with invalid data. */
const BOGUS_ZONES: readonly LabZone[] = [
  { name: 'bad-signature.test', edit: changing(isRecord(WWW, 'RRSIG A'), breakSignature) },
  {
    name: 'other-data.test',
    edit: changing(isRecord(WWW, 'A'), (line) => line.replace('192.0.2.80', '192.0.2.66')),
  },
  { name: 'more-data.test', edit: (lines) => [...lines, 'www.more-data.test. 300 IN A 192.0.2.66'] },
  { name: 'no-signature.test', edit: without(isRecord(WWW, 'RRSIG A')) },
  { name: 'no-signatures.test', edit: without(isRecord(ANY, 'RRSIG')) },
  { name: 'no-keys.test', edit: without(isRecord(ANY, 'DNSKEY'), isRecord(ANY, 'RRSIG DNSKEY')) },
  { name: 'unsigned-keys.test', edit: without(isRecord(ANY, 'RRSIG DNSKEY')) },
  { name: 'no-nsec.test', edit: without(isRecord(ANY, 'NSEC'), isRecord(ANY, 'RRSIG NSEC')) },
  { name: 'unsigned-nsec.test', edit: without(isRecord(ANY, 'RRSIG NSEC')) },
  {
    name: 'no-nsec3.test',
    nsec3: { iterations: 0 },
    edit: without(isRecord(ANY, 'NSEC3'), isRecord(ANY, 'RRSIG NSEC3')),
  },
  { name: 'expired.test', validity: [week(-8), week(-2)] },
  { name: 'not-yet.test', validity: [week(2), week(8)] },
  { name: 'expired-nsec3.test', nsec3: { iterations: 0 }, validity: [week(-8), week(-2)] },
  { name: 'stripped.test', algorithm: null },
  { name: 'ds-wrong-digest.test', ds: (lines) => lines.map(breakDigest) },
  { name: 'ds-wrong-tag.test', ds: dsField(0, '4711') },
  { name: 'ds-wrong-algorithm.test', ds: dsField(1, '15') },
  {
    name: 'ds-sha256-broken.test',
    digests: ['SHA-1', 'SHA-256'],
    ds: (lines) => lines.map((line) => (/ DS \d+ \d+ 2 /.test(line) ? breakDigest(line) : line)),
  },
  {
    name: 'changed-key.test',
    edit: changing(isRecord(ANY, 'DNSKEY'), (line) =>
      line.replace(/(DNSKEY\s+)257/, (_, head: string) => `${head}256`),
    ),
  },
  {
    name: 'wrong-signer.test',
    edit: changing(isRecord(WWW, 'RRSIG A'), (line) => line.replace(' wrong-signer.test. ', ' test. ')),
  },
  {
    name: 'wrong-labels.test',
    edit: changing(isRecord(WWW, 'RRSIG A'), (line) => line.replace(/(RRSIG\s+A 13) 3/, '$1 2')),
  },
  {
    name: 'wrong-ttl.test',
    edit: changing(isRecord(WWW, 'RRSIG A'), (line) => line.replace(/(RRSIG\s+A 13 3) 300/, '$1 600')),
  },
  {
    name: 'wrong-tag.test',
    edit: changing(isRecord(WWW, 'RRSIG A'), (line) => line.replace(/ (\d+) wrong-tag/, ' 1 wrong-tag')),
  },
  { name: 'bad-keys.test', edit: changing(isRecord(ANY, 'RRSIG DNSKEY'), breakSignature) },
  { name: 'bad-nsec.test', edit: changing(isRecord(ANY, 'RRSIG NSEC'), breakSignature) },
  { name: 'bad-soa.test', edit: changing(isRecord(ANY, 'RRSIG SOA'), breakSignature) },
  { name: 'below.stripped.test' },
];

/** Every zone of the lab. */
export const LAB_ZONES: readonly LabZone[] = [
  { name: '' },
  { name: 'test', nsec3: { iterations: 0 } },
  ...SOUND_ZONES,
  ...OPEN_ZONES,
  ...ODD_ZONES,
  ...BOGUS_ZONES,
];

/** The records that every zone except the root has in addition to SOA and NS. */
export const COMMON_RECORDS = `
ns A 127.0.0.1
www A 192.0.2.80
www AAAA 2001:db8::80
alias CNAME www
*.wild A 192.0.2.81
deep.empty A 192.0.2.82
`;
