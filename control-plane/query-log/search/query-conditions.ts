/** Conditions on a query of the log, and the tests of dictionary entries derived from these conditions. Pure. */
import { parseUpstream } from '../../../config/upstream-url.ts';
import type { CompatReply } from '../../../shared/api/compat/compat-api.ts';
import type { Decision, DnssecStatusName, ProtocolName, QueryStatusName } from '../../../shared/query-log.ts';
import { Rcode, rrTypeCode } from '../../../shared/dns/iana.ts';
import { networkContains, networkFromText } from '../../../shared/net/cidr.ts';
import { addressFromText, addressToText } from '../../../shared/net/ip.ts';
import type { HeadClient, HeadOutcome, HeadRule } from '../block/block-layout.ts';
import { replyKindOf } from '../rows/reply-kind.ts';

/**
 * A client: queries match if it identified itself by a key with one of these ids, or if they came from one of these
 * addresses and no client identified itself by a key.
 */
export interface DeviceCondition {
  readonly ids: readonly number[];
  readonly addresses: readonly string[];
}

/** Conditions on a query; an absent condition matches every query. */
export interface QueryConditions {
  /** Part of the queried name in any case, in the form of the log or in Unicode. */
  readonly domain?: string | undefined;
  /** An address, or a network as CIDR. */
  readonly client?: string | undefined;
  readonly device?: DeviceCondition | undefined;
  readonly group_id?: number | undefined;
  /** QTYPE, such as `A` or `TYPE65280`. */
  readonly type?: string | undefined;
  readonly status?: QueryStatusName | undefined;
  /** RCODE, such as `NXDOMAIN` or `RCODE17`. */
  readonly rcode?: string | undefined;
  readonly protocol?: ProtocolName | undefined;
  /** Upstream server, in any notation of its address. */
  readonly upstream?: string | undefined;
  readonly dnssec?: DnssecStatusName | undefined;
  /** Name of the list, filter, service or schedule profile that blocked the query. */
  readonly block_source?: string | undefined;
  /** Statuses, of which a query must have one. */
  readonly statuses?: readonly QueryStatusName[] | undefined;
  readonly decisions?: readonly Decision[] | undefined;
  /** Upstream servers, to one of which the query was forwarded. */
  readonly upstreams?: readonly string[] | undefined;
  /** QTYPEs to exclude, as numbers. */
  readonly typesLeftOut?: readonly number[] | undefined;
  readonly reply?: CompatReply | undefined;
  /**
   * `domainPattern` is compared with the complete name, and one of `clientPatterns` must match the complete address;
   * `*` matches any part.
   */
  readonly domainPattern?: string | undefined;
  readonly clientPatterns?: readonly string[] | undefined;
}

/** Filter for queries that meet all conditions and none of those in `not`. */
export interface QueryFilter extends QueryConditions {
  readonly not?: QueryConditions | undefined;
}

/** Whether a value matches; null = all values match. */
export type Test<T> = ((value: T) => boolean) | null;

/** The client test of a filter. */
export function clientTest(filter: QueryFilter): Test<HeadClient> {
  return combine(clientTests(filter), clientTests(filter.not ?? {}));
}

/** The outcome test of a filter. */
export function outcomeTest(filter: QueryFilter): Test<HeadOutcome> {
  return combine(outcomeTests(filter), outcomeTests(filter.not ?? {}));
}

/** The test of a filter on the deciding rule; the rule is null if the query has none. */
export function ruleTest(filter: QueryFilter): Test<HeadRule | null> {
  return combine(ruleTests(filter), ruleTests(filter.not ?? {}));
}

/** A test that passes if all of `wanted` and none of `excluded` pass; null if there are no tests. */
function combine<T>(
  wanted: readonly ((value: T) => boolean)[],
  excluded: readonly ((value: T) => boolean)[],
): Test<T> {
  if (wanted.length === 0 && excluded.length === 0) return null;
  return (value) => wanted.every((test) => test(value)) && !excluded.some((test) => test(value));
}

function clientTests({
  client,
  device,
  group_id,
  clientPatterns,
}: QueryConditions): ((client: HeadClient) => boolean)[] {
  const tests: ((client: HeadClient) => boolean)[] = [];
  if (group_id !== undefined) tests.push(([, groupId]) => groupId === group_id);
  if (client !== undefined) tests.push(clientWithin(client));
  if (device !== undefined) {
    const addresses = new Set(device.addresses);
    tests.push(([address, , , , keyed = 0]) =>
      keyed === 0 ? addresses.has(address) : device.ids.includes(keyed),
    );
  }
  if (clientPatterns !== undefined) {
    const patterns = clientPatterns.map(matchesWildcards);
    tests.push(([address]) => patterns.some((matches) => matches(address)));
  }
  return tests;
}

/** Maximum number of addresses whose membership in a network is cached. */
const MAX_KNOWN = 10_000;

function clientWithin(networkText: string): (client: HeadClient) => boolean {
  const network = networkFromText(networkText);
  // Results are cached, because most blocks have the same clients.
  const known = new Map<string, boolean>();
  return ([address]) => {
    const before = known.get(address);
    if (before !== undefined) return before;
    const bytes = addressFromText(address);
    const isWithin = bytes !== null && network !== null && networkContains(network, bytes);
    if (known.size < MAX_KNOWN) known.set(address, isWithin);
    return isWithin;
  };
}

function ruleTests({ block_source: source }: QueryConditions): ((rule: HeadRule | null) => boolean)[] {
  return source === undefined ? [] : [(rule) => rule?.[0] === source];
}

function outcomeTests(conditions: QueryConditions): ((outcome: HeadOutcome) => boolean)[] {
  const { type, status, rcode, protocol, dnssec } = conditions;
  const expected: [at: number, value: unknown][] = [
    [0, type === undefined ? undefined : (rrTypeCode(type) ?? null)],
    [1, status],
    [2, rcode === undefined ? undefined : rcodeFromName(rcode)],
    [3, protocol],
    [4, dnssec],
  ];
  const { statuses, decisions, upstream, upstreams, typesLeftOut, reply } = conditions;
  const oneOf: ((outcome: HeadOutcome) => boolean)[] = [];
  if (statuses !== undefined) oneOf.push((outcome) => statuses.includes(outcome[1]));
  if (decisions !== undefined) oneOf.push((outcome) => decisions.includes(decisionOf(outcome)));
  if (typesLeftOut !== undefined) oneOf.push(([qtype]) => !typesLeftOut.includes(qtype));
  if (reply !== undefined) oneOf.push((outcome) => replyKindOf(outcome[2], outcome[8]) === reply);
  if (upstream !== undefined) oneOf.push(upstreamIs(upstream));
  if (upstreams !== undefined)
    // A cached answer also has the name of a server, so `cached` must be checked.
    oneOf.push(([, , , , , cached, server]) => server !== null && !cached && upstreams.includes(server));
  return oneOf.concat(expectations(expected));
}

/** A test whether an outcome has this upstream server, in any notation of its address. */
function upstreamIs(wanted: string): (outcome: HeadOutcome) => boolean {
  const wantedServer = serverOf(wanted);
  const servers = new Map<string, boolean>();
  return ([, , , , , , upstream]) => {
    if (upstream === null || upstream === wanted) return upstream !== null;
    const before = servers.get(upstream);
    if (before !== undefined) return before;
    const isSame = wantedServer !== null && serverOf(upstream) === wantedServer;
    servers.set(upstream, isSame);
    return isSame;
  };
}

/** Transport, address and path of a server in canonical form; null if the text is not an upstream. */
function serverOf(text: string): string | null {
  const server = parseUpstream(text);
  if (server === undefined) return null;
  const { transport, host, port, pinnedIp = '', path = '' } = server;
  const address = addressFromText(host);
  const place = address === null ? host.toLowerCase() : addressToText(address);
  return JSON.stringify([transport, place, port, pinnedIp, path]);
}

function decisionOf(outcome: HeadOutcome): Decision {
  const origin = outcome[10] ?? null;
  return origin === null ? outcome[1] : (`${outcome[1]}:${origin}` as Decision);
}

function expectations(
  expected: readonly (readonly [at: number, value: unknown])[],
): ((outcome: HeadOutcome) => boolean)[] {
  return expected
    .filter(([, value]) => value !== undefined)
    .map(
      ([at, value]) =>
        (outcome) =>
          outcome[at] === value,
    );
}

/**
 * Compares a whole text, in any case, with a pattern in which each `*` matches any part. Linear in the text's length.
 */
export function matchesWildcards(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.toLowerCase().split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text.toLowerCase() === first;
  return (text) => {
    const folded = text.toLowerCase();
    if (!folded.startsWith(first) || !folded.endsWith(last)) return false;
    let at = first.length;
    for (const part of parts) {
      const found = folded.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= folded.length - last.length;
  };
}

/** Number of an rcode's mnemonic or `RCODEnn` in any case; null for other texts. */
export function rcodeFromName(name: string): number | null {
  const upper = name.toUpperCase();
  const known = Object.entries(Rcode).find(([mnemonic]) => mnemonic === upper);
  if (known) return known[1];
  const generic = /^RCODE(\d{1,4})$/.exec(upper);
  return generic ? Number(generic[1]) : null;
}
