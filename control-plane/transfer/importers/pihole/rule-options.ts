/** Options that follow a regex of Pi-hole, each after a semicolon. Pure. */
import { type ImportReason, importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { RRType } from '../../../../shared/dns/iana.ts';
import { addressFromText, addressToText, isMappedIpv4 } from '../../../../shared/net/ip.ts';

/** Answer for a denied name: according to `blocking.mode`, or a specific one. */
export type Reply =
  | { readonly kind: 'code'; readonly code: 'NODATA' | 'NXDOMAIN' | 'REFUSED' }
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  /** An answer with the address of the Pi-hole. */
  | { readonly kind: 'own_address' }
  | { readonly kind: 'none' }
  | { readonly kind: 'alias'; readonly target: string };

/** The options of a regex. */
export interface RuleOptions {
  /** Query types to which the rule applies; null = all. */
  readonly types: { readonly isExcept: boolean; readonly names: readonly string[] } | null;
  readonly reply: Reply | null;
  readonly isInverted: boolean;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The query types that Pi-hole knows by name; one more name stands for all other types. */
const KNOWN_TYPES = new Set('A AAAA ANY SRV SOA PTR TXT NAPTR MX DS RRSIG DNSKEY NS SVCB HTTPS'.split(' '));
const CODES = ['NODATA', 'NXDOMAIN', 'REFUSED'] as const;

/** Separates a regex from its options; returns a reason if Weir does not support them. */
export function readOptions(
  text: string,
): { readonly pattern: string; readonly options: RuleOptions } | { readonly reason: ImportReason } {
  // Pi-hole treats several semicolons in a row as one, and ignores a semicolon at the end.
  const [pattern = '', ...written] = text.split(';').filter((part) => part !== '');
  const options: Writable<RuleOptions> = { types: null, reply: null, isInverted: false };
  for (const option of written) {
    const fault = readOption(option.trim(), options);
    if (fault !== null) return { reason: fault };
  }
  return { pattern, options };
}

function readOption(option: string, into: Writable<RuleOptions>): ImportReason | null {
  if (option.toLowerCase() === 'invert') {
    into.isInverted = true;
    return null;
  }
  const [name, value = ''] = [option.split('=', 1)[0], option.split('=')[1]?.trim()];
  if (name === 'querytype') return readTypes(value, into);
  if (name === 'reply') return readReply(value, into);
  return rejected(importReason('pihole_unknown_option', { option: option.slice(0, 40) }));
}

/** A type that Pi-hole does not know is ignored if the option has further types. */
function readTypes(value: string, into: Writable<RuleOptions>): ImportReason | null {
  if (into.types !== null) return rejected(importReason('pihole_two_types'));
  const isExcept = value.startsWith('!');
  const written = value.replace(/^!/, '').toUpperCase().split(',');
  if (written.includes('OTHER')) return importReason('pihole_other_type');
  const names = [...new Set(written)].filter((type) => KNOWN_TYPES.has(type) && Object.hasOwn(RRType, type));
  if (names.length === 0)
    return rejected(importReason('pihole_unknown_query_type', { type: value.slice(0, 20) }));
  into.types = { isExcept, names };
  return null;
}

/** The last reply determines the kind; addresses of both families are kept. */
function readReply(value: string, into: Writable<RuleOptions>): ImportReason | null {
  const code = CODES.find((known) => known === value.toUpperCase());
  const bytes = addressFromText(value);
  if (code !== undefined) into.reply = { kind: 'code', code };
  else if (bytes !== null) {
    const before = into.reply?.kind === 'addresses' ? into.reply.addresses : [];
    const isIpv4 = isMappedIpv4(bytes);
    const others = before.filter((one) => isMappedIpv4(addressFromText(one)!) !== isIpv4);
    into.reply = { kind: 'addresses', addresses: [...others, addressToText(bytes)] };
  } else if (/^ip$/i.test(value)) into.reply = { kind: 'own_address' };
  else if (/^none$/i.test(value)) into.reply = { kind: 'none' };
  else if (/^cname,./i.test(value)) into.reply = { kind: 'alias', target: value.slice('cname,'.length) };
  else return rejected(importReason('pihole_unknown_reply', { reply: value.slice(0, 40) }));
  return null;
}

function rejected(reason: ImportReason): ImportReason {
  return importReason('pihole_rejected', { reason });
}
