/**
 * Parses the value of `$dnsrewrite`: a response code, an address, a host name, or `CODE;TYPE;data` (AdGuard DNS filtering
 * syntax, `dnsrewrite`). Names may be internationalised and may end with a dot.
 */
import { RRType, Rcode } from '../../../../shared/dns/iana.ts';
import { addressFromText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { type LineReason, lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { RewriteAnswer } from '../../../../shared/snapshot/special-rules.ts';
import { serviceRdata, targetOf } from './service-record.ts';

/** Maximum length of a TXT record in bytes, so that it fits into a UDP reply. */
const MAX_TXT_BYTES = 1024;
const CODES: ReadonlyMap<string, number> = new Map([
  ['NOERROR', Rcode.NOERROR],
  ['FORMERR', Rcode.FORMERR],
  ['SERVFAIL', Rcode.SERVFAIL],
  ['NXDOMAIN', Rcode.NXDOMAIN],
  ['NOTIMP', Rcode.NOTIMP],
  ['REFUSED', Rcode.REFUSED],
]);
/** Response codes that may be written without semicolons. */
const SHORT_CODES: ReadonlySet<string> = new Set(['NOERROR', 'SERVFAIL', 'NXDOMAIN', 'REFUSED']);

/** Reads the value, '' = NODATA; returns a reason if the value cannot be used. */
export function readRewriteValue(value: string): RewriteAnswer | LineReason {
  const [code = '', type, ...data] = value.split(';');
  if (type === undefined) return readShort(code.trim());
  const rcode = CODES.get(code.trim().toUpperCase());
  if (rcode === undefined) return lineReason('rewrite_code', { code: code.slice(0, 20) });
  if (type.trim() === '' || rcode !== Rcode.NOERROR) return { rcode };
  return readTyped(type.trim().toUpperCase(), data.join(';'));
}

/** Reads the short form: `NXDOMAIN`, `REFUSED`, an address, or a host name. */
function readShort(value: string): RewriteAnswer | LineReason {
  const name = value.toUpperCase();
  if (value === '') return { rcode: Rcode.NOERROR };
  if (SHORT_CODES.has(name)) return { rcode: CODES.get(name)! };
  const address = readAddress(value);
  if (address !== null) return recordOf(address.length === 4 ? RRType.A : RRType.AAAA, address);
  // A single label is not accepted as a host name, because it is more likely an unknown response code.
  const host = canonicalDomain(value);
  return host?.includes('.') === true ? { rcode: Rcode.NOERROR, host } : lineReason('rewrite_value');
}

/** A record in the form `NOERROR;TYPE;data`. */
function readTyped(type: string, data: string): RewriteAnswer | LineReason {
  if (type === 'CNAME') {
    const host = canonicalDomain(data);
    return host === null ? misfit(type) : { rcode: Rcode.NOERROR, host };
  }
  if (type === 'TXT') {
    const isTooLong = Buffer.byteLength(data) > MAX_TXT_BYTES;
    return isTooLong
      ? lineReason('rewrite_text', { bytes: MAX_TXT_BYTES })
      : recordOf(RRType.TXT, textRdata(data));
  }
  const read = READERS[type];
  if (read === undefined) return lineReason('rewrite_type', { type: type.slice(0, 20) });
  const rdata = read(data.trim());
  return rdata === null ? misfit(type) : recordOf(RRType[type as keyof typeof RRType], rdata);
}

/** Functions that return the RDATA of types other than TXT and CNAME; null if the data is invalid. */
const READERS: Readonly<Record<string, (data: string) => Uint8Array | null>> = {
  A: (data) => addressOf(data, 4),
  AAAA: (data) => addressOf(data, 16),
  PTR: (data) => fieldsOf(data, 0),
  MX: (data) => fieldsOf(data, 1),
  SRV: (data) => fieldsOf(data, 3),
  HTTPS: serviceRdata,
  SVCB: serviceRdata,
};

function misfit(type: string): LineReason {
  return lineReason('rewrite_data', { type });
}

function recordOf(type: number, rdata: Uint8Array): RewriteAnswer {
  return { rcode: Rcode.NOERROR, record: { type, rdata: Buffer.from(rdata).toString('hex') } };
}

/** The 4 or 16 bytes of an address. */
function readAddress(text: string): Uint8Array | null {
  const address = addressFromText(text);
  if (address === null) return null;
  return isMappedIpv4(address) ? address.slice(12) : address;
}

function addressOf(text: string, size: number): Uint8Array | null {
  const address = readAddress(text);
  return address?.length === size ? address : null;
}

/** RDATA of `numbers` 16-bit numbers followed by a name. */
function fieldsOf(data: string, numbers: number): Uint8Array | null {
  const words = data.split(/\s+/u);
  const name = targetOf(words.pop() ?? '');
  const areNumbers = words.every((word) => /^\d{1,5}$/u.test(word) && Number(word) <= 0xffff);
  if (name === null || words.length !== numbers || !areNumbers) return null;
  return Uint8Array.from([...words.flatMap((word) => [Number(word) >>> 8, Number(word) & 0xff]), ...name]);
}

/** RDATA of a TXT record: strings of at most 255 bytes, each preceded by its length (RFC 1035 section 3.3.14). */
function textRdata(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  const rdata: number[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const piece = bytes.subarray(at, at + 255);
    rdata.push(piece.length, ...piece);
  }
  return Uint8Array.from(rdata);
}
