/**
 * Parses lines of other servers' configuration files that block names: dnsmasq's `address=`, `local=`, `server=` and
 * `host-record=`, unbound's `local-zone:` and `local-data:`. Returns the names of a line and their action;
 * `scoped-names.ts` combines the lines of a list.
 */
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { ScopedMeaning } from '../scopes/scoped-entry.ts';
import type { UnusedLine } from './list-statistics.ts';
import { type AddressNetwork, networkOf } from './address-trigger.ts';
import { invalidLine, skippedLine } from './foreign-line.ts';
import { wordKindOf } from './hosts-line.ts';
import { textBetween } from './line-bytes.ts';

/**
 * The result of a line. Either a network, or names with their actions and `unused`: the reason if the line itself gives
 * no rule (null = the line is a comment, absent = it gives a rule).
 */
export type ConfigOutcome =
  | { readonly network: AddressNetwork }
  | { readonly names: readonly string[]; readonly meaning: ScopedMeaning; readonly unused?: UnusedLine }
  | { readonly unused: UnusedLine | null };

const REAL_ADDRESS = skippedLine(lineReason('real_answer'));
const FORWARDING = skippedLine(lineReason('forwarding'));
const OTHER_OPTION = skippedLine(lineReason('other_option'));
const OPEN_ZONE = skippedLine(lineReason('open_zone'));
const OTHER_DATA = skippedLine(lineReason('other_data'));
const EVERYTHING = skippedLine(lineReason('every_name_not_accepted'));
const VIEW = skippedLine(lineReason('view_option'));
const NO_ADDRESS = invalidLine(lineReason('no_network'));

/** Zone types of unbound for which names without data get no useful answer. */
const BLOCKING_ZONES: ReadonlySet<string> = new Set([
  'deny',
  'refuse',
  'static',
  'redirect',
  'inform_deny',
  'inform_redirect',
]);
const ZONE = { reach: 'suffix', form: 'unbound', isLastKept: true } as const;
const BLOCKING_ZONE: ScopedMeaning = { ...ZONE, action: 'block' };
const REDIRECTING_ZONE: ScopedMeaning = { ...BLOCKING_ZONE, isApexAnswer: true };
const ALWAYS_BLOCKING_ZONE: ScopedMeaning = { ...BLOCKING_ZONE, ignoresData: true };
const PASSING_ZONE: ScopedMeaning = { ...ZONE, action: 'pass' };
const ALWAYS_PASSING_ZONE: ScopedMeaning = { ...PASSING_ZONE, ignoresData: true };
const NULL_DATA: ScopedMeaning = { action: 'block', reach: 'exact', form: 'unbound' };
const REAL_DATA: ScopedMeaning = { action: 'pass', reach: 'exact', form: 'unbound' };

const BLOCKED_DOMAIN: ScopedMeaning = { action: 'block', reach: 'suffix', form: 'dnsmasq' };
const PASSING_DOMAIN: ScopedMeaning = { action: 'pass', reach: 'suffix', form: 'dnsmasq' };
const NULL_HOST: ScopedMeaning = { action: 'block', reach: 'exact', form: 'dnsmasq' };
const REAL_HOST: ScopedMeaning = { action: 'pass', reach: 'exact', form: 'dnsmasq' };

/** Reads `address=/a/b/target`, `local=/a/`, `server=/a/target`, `host-record=a,target`, `bogus-nxdomain=address`. */
export function readDnsmasqLine(line: string): ConfigOutcome {
  const equals = line.indexOf('=');
  const option = line.slice(0, equals).trimEnd().toLowerCase();
  const value = beforeComment(line.slice(equals + 1)).trimStart();
  if (option === 'bogus-nxdomain') {
    const network = networkOf(value);
    return network === null ? { unused: NO_ADDRESS } : { network };
  }
  if (option === 'host-record') return readHostRecord(value);
  if (option !== 'address' && option !== 'local' && option !== 'server') return { unused: OTHER_OPTION };
  if (value === '') return { unused: FORWARDING };
  const last = value.lastIndexOf('/');
  const written = value.slice(last + 1);
  if (!value.startsWith('/') || last === 0 || /\s/.test(written)) return { unused: OTHER_OPTION };
  const names = value
    .slice(1, last)
    .split('/')
    .map((name) => name.replace(/^\*?\.+/, ''));
  if (names.includes('#') || names.includes('')) return { unused: EVERYTHING };
  const target = written.replace(/#\d+$/, '');
  // `server=/x/#` means the default servers; `address=/x/#` means an answer with the null address.
  const isBlock = written === '#' ? option === 'address' : target === '' || isNull(target);
  if (isBlock) return { names, meaning: BLOCKED_DOMAIN };
  return { names, meaning: PASSING_DOMAIN, unused: option === 'address' ? REAL_ADDRESS : FORWARDING };
}

/** Reads `name[,name…],address[,address][,TTL]`. */
function readHostRecord(value: string): ConfigOutcome {
  const words = value.split(',').map((word) => word.trim());
  const isAddress = (word: string): boolean =>
    wordKindOf(Buffer.from(word, 'latin1'), 0, word.length) !== 'no-address';
  const addresses = words.filter((word) => word.length > 1 && isAddress(word));
  const names = words.filter((word) => !isAddress(word) && !/^\d+$/.test(word));
  if (names.length === 0 || addresses.length === 0) return { unused: OTHER_OPTION };
  return addresses.every(isNull)
    ? { names, meaning: NULL_HOST }
    : { names, meaning: REAL_HOST, unused: REAL_ADDRESS };
}

/** Sections of unbound's configuration. */
const SECTION =
  /^(?:server|view|forward-zone|stub-zone|auth-zone|remote-control|python|dynlib|dnscrypt|cachedb|ipset|rpz|dnstap)$/i;

/** Whether [start, end) is `local-zone`, `local-data` or a heading of unbound's configuration. */
export function isUnboundOption(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 20) return false;
  const word = textBetween(bytes, start, end);
  return SECTION.test(word) || /^(?:local-zone|local-data|local-data-ptr)$/i.test(word);
}

/** The lines of one configuration of unbound. */
export class UnboundLines {
  private isInView = false;

  /**
   * Reads `local-zone: "a" type`, `local-data: "a A 0.0.0.0"`, or a heading, which may be followed by an option in the
   * same line.
   */
  read(line: string): ConfigOutcome {
    const [heading, section] = /^([a-z-]+):(?:\s+(?=\S+:)|$)/i.exec(line) ?? [];
    if (heading === undefined || !SECTION.test(section!))
      return this.isInView ? { unused: VIEW } : readUnboundOption(line);
    this.isInView = section!.toLowerCase() === 'view';
    return heading.length === line.length ? { unused: null } : this.read(line.slice(heading.length));
  }
}

function readUnboundOption(line: string): ConfigOutcome {
  const zone = /^local-zone:\s*(["']?)([^"'\s]+)\1\s+(["']?)([a-z_]+)\3\s*(?:#.*)?$/i.exec(line);
  if (zone !== null) {
    const [, , name = '', , type = ''] = zone;
    const meaning = meaningOfZone(type.toLowerCase());
    if (name === '.') return { unused: meaning.action === 'block' ? EVERYTHING : OPEN_ZONE };
    const names = [name];
    return meaning.action === 'block' ? { names, meaning } : { names, meaning, unused: OPEN_ZONE };
  }
  const [, data] = /^local-data:\s*(.+)$/i.exec(line) ?? [];
  const [, name, rest] = data === undefined ? [] : (/^(\S+)\s+(.+)$/.exec(unquoted(data)) ?? []);
  return name === undefined ? { unused: OTHER_OPTION } : readData(name, rest!);
}

/** The text of a value: the part inside its quotes, or everything up to a comment. */
function unquoted(value: string): string {
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return beforeComment(value);
  const end = value.indexOf(quote, 1);
  return value.slice(1, end < 0 ? undefined : end).trim();
}

function meaningOfZone(type: string): ScopedMeaning {
  if (type === 'always_transparent') return ALWAYS_PASSING_ZONE;
  if (type.startsWith('always_')) return ALWAYS_BLOCKING_ZONE;
  if (!BLOCKING_ZONES.has(type)) return PASSING_ZONE;
  return type.endsWith('redirect') ? REDIRECTING_ZONE : BLOCKING_ZONE;
}

/** Reads a record of a zone. Names that have neither an address nor an alias get no useful answer. */
function readData(name: string, rest: string): ConfigOutcome {
  const words = rest.split(/\s+/);
  while (/^(?:\d+[smhdw]?|IN)$/i.test(words[0] ?? '')) words.shift();
  const [type = '', target = ''] = words;
  if (!/^(?:A|AAAA|CNAME|PTR)$/i.test(type)) return { unused: OTHER_DATA };
  const isBlock = /^A/i.test(type) && isNull(target);
  const names = [name];
  return isBlock ? { names, meaning: NULL_DATA } : { names, meaning: REAL_DATA, unused: REAL_ADDRESS };
}

/** The text before a comment, which starts with white space and `#`. */
function beforeComment(value: string): string {
  for (let at = value.indexOf('#'); at >= 0; at = value.indexOf('#', at + 1))
    if (at === 0 || value.charCodeAt(at - 1) <= 0x20) return value.slice(0, at).trimEnd();
  return value.trimEnd();
}

/** Whether the text is an address that means "block". */
export function isNull(address: string): boolean {
  const bytes = Buffer.from(address, 'latin1');
  return wordKindOf(bytes, 0, bytes.length) === 'block-address';
}
