/** Signed zones for a test upstream, with signatures valid at the current or a given time. */
import { RRType, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { readTrustAnchors, type TrustAnchor } from '../../../shared/dns/trust-anchors.ts';
import { idOf, octets, questionOf, response, type TestRecord } from './built-messages.ts';
import { readRecords } from './record-text.ts';
import type { Script } from './scripted-upstream.ts';
import { TestZone } from './test-zone.ts';

const DAY_SECS = 86_400;
const ROOT = new TestZone('.');
const ZONE = new TestZone('example');
const ROOT_SOA = '. 300 SOA ns.example root.example 1 2 3 4 300';
const ZONE_SOA = 'example 300 SOA ns.example root.example 1 2 3 4 300';
/** Records that are sent only if the query has the DO bit, and never by a server without DNSSEC. */
const PROOFS: ReadonlySet<number> = new Set([RRType.RRSIG, RRType.NSEC]);

/** The trust anchor for the root of these zones, as the text of a file; the parsed form is below. */
export const SIGNED_ROOT_DS: string = ROOT.ds;
export const SIGNED_ROOT: readonly TrustAnchor[] = readTrustAnchors(ROOT.ds);

/** Faults of a server of these zones, and the time of its signatures. */
export interface SignedServerOptions {
  /** Whether the server leaves out signatures and proofs. */
  readonly strips?: boolean;
  /** A name whose records have no signatures, so it is bogus. */
  readonly unsignedName?: string;
  /** A name with an insecure delegation. */
  readonly insecureZone?: string;
  /** Unix seconds. Signatures are valid for a day before and after this time; the current time by default. */
  readonly atSecs?: number;
}

/** A script: `.` and `example` are signed; every name `….example` has the address 192.0.2.`lastOctet`. */
export function signedZones(lastOctet: number, options: SignedServerOptions = {}): Script {
  const atSecs = options.atSecs ?? Math.floor(Date.now() / 1000);
  const times = { inception: atSecs - DAY_SECS, expiration: atSecs + DAY_SECS };
  const sign = (zone: TestZone, records: string): string => zone.signed(records, times);
  const recordsFor = (name: string, type: string): { answers?: string; authorities?: string } => {
    const key = `${name} ${type}`;
    if (key === '. DNSKEY') return { answers: sign(ROOT, ROOT.dnskey) };
    if (key === '. NS') return { answers: sign(ROOT, '. 300 NS ns.example') };
    if (key === 'example DS') return { answers: sign(ROOT, ZONE.ds) };
    if (key === 'example DNSKEY') return { answers: sign(ZONE, ZONE.dnskey) };
    if (name === 'example' || !name.endsWith('.example')) return { authorities: sign(ROOT, ROOT_SOA) };
    if (type === 'A') return { answers: sign(ZONE, `${name} 300 A 192.0.2.${String(lastOctet)}`) };
    // The name exists, but has no other type.
    const types = name === options.insecureZone ? 'NS' : 'A';
    return { authorities: sign(ZONE, `${ZONE_SOA}\n${name} 300 NSEC 0.${name} ${types} RRSIG NSEC`) };
  };
  return (query): void => {
    const { bytes } = query;
    const asked = questionOf(bytes);
    const name = nameToText(asked.qname).toLowerCase();
    const isStripped = options.strips === true || name === options.unsignedName;
    const { answers = '', authorities = '' } = recordsFor(name, rrTypeName(asked.qtype));
    const read = (text: string): TestRecord[] =>
      readRecords(text)
        .filter(({ type }) => !isStripped || !PROOFS.has(type))
        .map(({ owner, type, ttlSecs, rdata }) => ({ owner, type, ttl: ttlSecs, rdata }));
    const opt = { owner: octets([0]), type: RRType.OPT, ttl: 0x8000, rdata: octets(), rrClass: 1232 };
    const sections = { answers: read(answers), authorities: read(authorities), additionals: [opt] };
    query.reply(response(asked, { id: idOf(bytes), ...sections }));
  };
}
