/**
 * Parses lines of other servers' configuration files that block names: dnsmasq's `address=`, `local=` and `server=`,
 * unbound's `local-zone:` and `local-data:`, and the records of a response policy zone. Returns the names of a line and
 * their treatment; `line-rules.ts` makes rules of them.
 */
import type { UnusedLine } from './list-statistics.ts';
import { type AddressNetwork, networkOf } from './address-trigger.ts';
import { invalidLine, skippedLine } from './foreign-line.ts';
import { judgeWord } from './hosts-line.ts';
import { textOf } from './line-bytes.ts';

/** The effect of a line: names as text with their scope, or why it makes no rule (null = a comment). */
export type ConfigOutcome =
  | { readonly network: AddressNetwork }
  | { readonly names: readonly string[]; readonly reach: 'exact' | 'suffix'; readonly allow: boolean }
  | { readonly unused: UnusedLine | null };

const REAL_ADDRESS = skippedLine('an answer with a real address: no block');
const FORWARDING = skippedLine('forwarding to a server: no block');
const OTHER_OPTION = skippedLine('an option that blocks nothing');
const OPEN_ZONE = skippedLine('a zone that is answered as usual: no block');
const EVERYTHING = skippedLine('a rule for every name is not taken');
const REWRITE = skippedLine('RPZ rewriting is not supported');
const TRIGGER = skippedLine('RPZ trigger that is neither a name nor an address of the answer');
const NO_ADDRESS = invalidLine('not an address, nor a prefix');

/** unbound's zone types that answer nothing of use. */
const BLOCKING_ZONES: ReadonlySet<string> = new Set([
  'always_nxdomain',
  'always_null',
  'always_nodata',
  'always_refuse',
  'always_deny',
  'deny',
  'refuse',
  'static',
  'redirect',
  'inform_deny',
  'inform_redirect',
]);

/** `address=/a/b/target`, `local=/a/`, `server=/a/target`, `bogus-nxdomain=address`. */
export function readDnsmasqLine(line: string): ConfigOutcome {
  const equals = line.indexOf('=');
  const option = line.slice(0, equals).toLowerCase();
  if (option === 'bogus-nxdomain') {
    const network = networkOf(beforeComment(line.slice(equals + 1)).trimStart());
    return network === null ? { unused: NO_ADDRESS } : { network };
  }
  if (option !== 'address' && option !== 'local' && option !== 'server') return { unused: OTHER_OPTION };
  const value = beforeComment(line.slice(equals + 1));
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
  // `server=/x/#` asks the usual servers; `address=/x/#` gives the null address.
  if (written === '#') return option === 'address' ? blocked(names, 'suffix') : { unused: FORWARDING };
  if (target === '' || isNull(target)) return blocked(names, 'suffix');
  return { unused: option === 'address' ? REAL_ADDRESS : FORWARDING };
}

/** Whether [start, end) is `local-zone`, `local-data` or a heading of unbound's configuration. */
export function isUnboundOption(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > 20) return false;
  return /^(?:local-zone|local-data|local-data-ptr|server|forward-zone|remote-control)$/i.test(
    textOf(bytes, start, end),
  );
}

/** `local-zone: "a" type`, `local-data: "a A 0.0.0.0"`. */
export function readUnboundLine(line: string): ConfigOutcome {
  const zone = /^local-zone:\s*"?([^"\s]+)"?\s+"?([a-z_]+)"?\s*(?:#.*)?$/i.exec(line);
  if (zone !== null) {
    if (zone[1] === '.') return { unused: EVERYTHING };
    return BLOCKING_ZONES.has(zone[2]!.toLowerCase()) ? blocked([zone[1]!], 'suffix') : { unused: OPEN_ZONE };
  }
  const data =
    /^local-data:\s*["']?(\S+)\s+(?:\d+\s+)?(?:IN\s+)?(?:A|AAAA)\s+([^"'\s]+)["']?\s*(?:#.*)?$/i.exec(line);
  if (data !== null) return isNull(data[2]!) ? blocked([data[1]!], 'exact') : { unused: REAL_ADDRESS };
  return { unused: /^[a-z-]+:$/i.test(line) ? null : OTHER_OPTION };
}

/** The effect of a record of a response policy zone on the names or addresses of its owner. */
export function readPolicyRecord(owner: string, rest: string): 'block' | 'allow' | UnusedLine | null {
  const words = rest.trim().split(/\s+/);
  let at = 0;
  while (/^\d+[smhdw]?$/i.test(words[at] ?? '') || /^IN$/i.test(words[at] ?? '')) at++;
  const type = words[at]?.toUpperCase();
  if (type === 'SOA' || type === 'NS') return null;
  if (/(?:^|\.)rpz-(?:client-ip|nsip|nsdname)(?:\.|$)/i.test(owner)) return TRIGGER;
  const target = words[at + 1]?.toLowerCase();
  if (target === undefined) return REWRITE;
  if (type === 'A' || type === 'AAAA') return isNull(target) ? 'block' : REWRITE;
  if (type !== 'CNAME') return REWRITE;
  if (target === '.' || target === '*.' || target === 'rpz-drop.') return 'block';
  if (target === 'rpz-passthru.') return 'allow';
  return REWRITE;
}

/** Whether `rest`, which follows a name, is a resource record and not prose. */
export function isRecord(rest: string): boolean {
  return /^\s+(?:\d+[smhdw]?\s+)?(?:IN\s+)?(?:(?:CNAME|SOA|NS|TXT)\s+\S|A\s+\d+\.[\d.]+(?:\s|$)|AAAA\s+[\da-f]*:[\da-f:.]*(?:\s|$))/i.test(
    rest,
  );
}

/** The text before white space and a `#`. */
function beforeComment(value: string): string {
  for (let at = value.indexOf('#'); at >= 0; at = value.indexOf('#', at + 1))
    if (at === 0 || value.charCodeAt(at - 1) <= 0x20) return value.slice(0, at).trimEnd();
  return value.trimEnd();
}

function blocked(names: readonly string[], reach: 'exact' | 'suffix'): ConfigOutcome {
  return { names, reach, allow: false };
}

function isNull(address: string): boolean {
  const bytes = Buffer.from(address, 'latin1');
  return judgeWord(bytes, 0, bytes.length) === 'block-address';
}
