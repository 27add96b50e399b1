/** The modifiers after the `$` of an Adblock-style rule: those that apply to a DNS server. */
import { RRType, Rcode } from '../../../shared/dns/iana.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import type { RewriteAnswer, SpecialRule } from '../../../shared/snapshot/special-rules.ts';
import { type ClientCondition, readClientCondition, splitUnescaped } from './client-condition.ts';

/** The parsed modifiers of a rule. */
export interface Modifiers {
  readonly important: boolean;
  readonly badfilter: boolean;
  readonly rewrite: RewriteAnswer | undefined;
  /** Whether the rule applies only to some questions about its names. */
  readonly hasConditions: boolean;
  /** The fields of a special rule with conditions and rewrite. */
  readonly conditions: Conditions;
  /** The modifiers as written, without `badfilter`. */
  readonly written: readonly string[];
}

type Conditions = Pick<SpecialRule, 'types' | 'exceptTypes' | 'denyallow' | 'rewrite'> & ClientCondition;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Longest host name as text. */
const MAX_HOST_LENGTH = 254;
/** Longest text of a TXT record, bytes: what a reply over UDP has room for. */
const MAX_TXT_BYTES = 1024;

/** Reads the text after the `$`; a text says why it cannot be used. */
export function readModifiers(options: string): Modifiers | string {
  const conditions: Writable<Conditions> = {};
  const written: string[] = [];
  let important = false;
  let badfilter = false;
  for (const option of options === '' ? [] : splitUnescaped(options, ',')) {
    const [name, value] = splitOnce(option.trim(), '=');
    if (name !== 'badfilter') written.push(option.trim());
    let fault: string | null = null;
    if (name === 'important' && value === null) important = true;
    else if (name === 'badfilter' && value === null) badfilter = true;
    else if (name === 'dnstype') fault = readTypes(value, conditions);
    else if (name === 'denyallow') fault = readDenyallow(value, conditions);
    else if (name === 'client') fault = readClients(value, conditions);
    else if (name === 'dnsrewrite') fault = readRewrite(value, conditions);
    else fault = `modifier is not supported: $${name.slice(0, 40)}`;
    if (fault !== null) return fault;
  }
  const { rewrite, ...others } = conditions;
  return {
    important,
    badfilter,
    rewrite,
    hasConditions: Object.keys(others).length > 0,
    conditions,
    written,
  };
}

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function readTypes(value: string | null, into: Writable<Conditions>): string | null {
  const wanted: number[] = [];
  const excepted: number[] = [];
  for (const word of (value ?? '').split('|')) {
    const except = word.startsWith('~');
    const type = typeCode((except ? word.slice(1) : word).toUpperCase());
    if (type === undefined) return `$dnstype with an unknown type: ${word.slice(0, 20)}`;
    (except ? excepted : wanted).push(type);
  }
  if (wanted.length > 0) into.types = wanted;
  if (excepted.length > 0) into.exceptTypes = excepted;
  return null;
}

function typeCode(name: string): number | undefined {
  const numbered = /^TYPE(\d{1,5})$/.exec(name);
  if (numbered !== null) return Number(numbered[1]);
  return Object.hasOwn(RRType, name) ? RRType[name as keyof typeof RRType] : undefined;
}

function readDenyallow(value: string | null, into: Writable<Conditions>): string | null {
  const names = (value ?? '').toLowerCase().split('|');
  if (!names.every((name) => /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(name)))
    return '$denyallow with something that is no domain name';
  into.denyallow = names;
  return null;
}

function readClients(value: string | null, into: Writable<Conditions>): string | null {
  const condition = readClientCondition(value ?? '');
  if (typeof condition === 'string') return condition;
  Object.assign(into, condition);
  return null;
}

function readRewrite(value: string | null, into: Writable<Conditions>): string | null {
  const [rcodeName, type, ...data] = (value ?? '').split(';');
  if (type === undefined) return readShortRewrite(rcodeName!, into);
  const rcode = rewriteRcode(rcodeName!);
  if (rcode === undefined) return `$dnsrewrite with an unknown response code: ${rcodeName!.slice(0, 20)}`;
  if (type === '' || rcode !== Rcode.NOERROR) {
    into.rewrite = { rcode, ipv4: [], ipv6: [] };
    return null;
  }
  return readRecordRewrite(type.toUpperCase(), data.join(';'), into);
}

/** A record of a type, as `NOERROR;TYPE;data` names it. */
function readRecordRewrite(type: string, data: string, into: Writable<Conditions>): string | null {
  if (type === 'TXT') {
    if (Buffer.byteLength(data) > MAX_TXT_BYTES)
      return `$dnsrewrite to a TXT record of more than ${MAX_TXT_BYTES} bytes`;
    into.rewrite = { rcode: Rcode.NOERROR, ipv4: [], ipv6: [], txt: data };
    return null;
  }
  if (type !== 'A' && type !== 'AAAA' && type !== 'CNAME')
    return `$dnsrewrite to a record of this type is not supported: ${type.slice(0, 20)}`;
  const fault = readShortRewrite(data, into);
  if (fault !== null) return fault;
  const { ipv4, ipv6, host } = into.rewrite!;
  const fits = { A: ipv4.length === 1, AAAA: ipv6.length === 1, CNAME: host !== undefined }[type];
  return fits ? null : '$dnsrewrite whose data does not fit its type';
}

/** `NXDOMAIN`, `REFUSED`, an address, or a host name. */
function readShortRewrite(value: string, into: Writable<Conditions>): string | null {
  const rcode = rewriteRcode(value);
  const address = addressFromText(value);
  if (rcode !== undefined) into.rewrite = { rcode, ipv4: [], ipv6: [] };
  else if (address === null) {
    const host = hostOf(value);
    if (host === null) return '$dnsrewrite to something that is no response code, address or host name';
    into.rewrite = { rcode: Rcode.NOERROR, ipv4: [], ipv6: [], host };
  } else if (isMappedIpv4(address)) into.rewrite = { rcode: Rcode.NOERROR, ipv4: [value], ipv6: [] };
  else into.rewrite = { rcode: Rcode.NOERROR, ipv4: [], ipv6: [value] };
  return null;
}

/** A host name of two labels at least, folded; null for anything else. */
function hostOf(value: string): string | null {
  if (value.length > MAX_HOST_LENGTH) return null;
  const host = value.toLowerCase().replace(/\.$/, '');
  const isName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(host);
  return isName ? host : null;
}

function rewriteRcode(name: string): number | undefined {
  switch (name.toUpperCase()) {
    case 'NOERROR':
      return Rcode.NOERROR;
    case 'NXDOMAIN':
      return Rcode.NXDOMAIN;
    case 'REFUSED':
      return Rcode.REFUSED;
    default:
      return undefined;
  }
}
