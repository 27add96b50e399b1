/** Translates the filters of the compatibility API's query log to Weir's. Pure. */
import { COMPAT_REPLIES, COMPAT_STATUSES } from '../../../shared/api/compat/compat-api.ts';
import { COMPAT_DNSSEC } from '../../../shared/api/compat/compat-log-api.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import type { Decision } from '../../../shared/query-log.ts';
import { matchesWildcards, type QueryConditions } from '../../query-log/search/query-conditions.ts';
import { CompatFault } from './compat-error.ts';
import type { Params } from './params.ts';
import { BLOCKED_DECISIONS, decisionsOf, NAMED_TYPES, PERMITTED_DECISIONS } from './query-kinds.ts';
import { dnssecOf } from './query-row.ts';
import { placeText, upstreamPlace } from './upstream-place.ts';

/** Names that filters can use. */
export interface KnownNames {
  /** The upstreams that were queried, in the notation of the configuration. */
  readonly upstreams: readonly string[];
  /** Addresses of clients with their names. */
  readonly clients: Iterable<readonly [address: string, name: string]>;
}

const NONE: readonly Decision[] = [];

/** The conditions of a request. @throws {CompatFault} 400 for an unknown value */
export function conditionsOf(params: Params, known: KnownNames): QueryConditions {
  const upstream = params.text('upstream');
  const decisions = [decisionsBy(params), dnssecIsNone(params) ? NONE : undefined, ownAnswersBy(upstream)];
  return {
    domainPattern: params.text('domain'),
    clientPatterns: clientsBy(params, known),
    ...typeBy(params),
    decisions: inAll(decisions.filter((names) => names !== undefined)),
    reply: oneOf(params, 'reply', COMPAT_REPLIES),
    dnssec: dnssecBy(params),
    upstreams: upstream === undefined || ownAnswersBy(upstream) ? undefined : upstreamsBy(upstream, known),
  };
}

function decisionsBy(params: Params): readonly Decision[] | undefined {
  const status = oneOf(params, 'status', COMPAT_STATUSES);
  return status === undefined ? undefined : decisionsOf(status);
}

/** `cache`, `blocklist` and `permitted` select answers without an upstream, and everything that is not blocked. */
function ownAnswersBy(upstream: string | undefined): readonly Decision[] | undefined {
  switch (upstream) {
    case 'cache':
      return decisionsOf('CACHE', 'CACHE_STALE');
    case 'blocklist':
      return BLOCKED_DECISIONS;
    case 'permitted':
      return PERMITTED_DECISIONS;
    default:
      return undefined;
  }
}

function upstreamsBy(pattern: string, { upstreams }: KnownNames): string[] {
  const matches = matchesWildcards(pattern);
  return upstreams.filter((text) => matches(placeText(upstreamPlace(text))) || matches(text));
}

function clientsBy(params: Params, { clients }: KnownNames): string[] | undefined {
  const [ip, name] = [params.text('client_ip'), params.text('client_name')];
  if (name === undefined) return ip === undefined ? undefined : [ip];
  const [isName, isIp] = [matchesWildcards(name), matchesWildcards(ip ?? '*')];
  return [...clients].filter(([address, own]) => isName(own) && isIp(address)).map(([address]) => address);
}

function typeBy(params: Params): Pick<QueryConditions, 'type' | 'typesLeftOut'> {
  const type = params.text('type');
  if (type === undefined) return {};
  if (type.toUpperCase() === 'OTHER') return { typesLeftOut: NAMED_TYPES };
  if (rrTypeCode(type) === undefined) throw refused('type', type);
  return { type };
}

function dnssecBy(params: Params): QueryConditions['dnssec'] {
  const state = oneOf(params, 'dnssec', COMPAT_DNSSEC);
  return state === undefined ? undefined : dnssecOf(state);
}

/** Whether the request selects a DNSSEC status that no answer of Weir has. */
function dnssecIsNone(params: Params): boolean {
  return params.text('dnssec') !== undefined && dnssecBy(params) === undefined;
}

function oneOf<Name extends string>(params: Params, name: string, names: readonly Name[]): Name | undefined {
  const value = params.text(name);
  const found = names.find((one) => one === value?.toUpperCase());
  if (value !== undefined && found === undefined) throw refused(name, value);
  return found;
}

/** Intersection of all lists; undefined without a list. */
function inAll(lists: readonly (readonly Decision[])[]): readonly Decision[] | undefined {
  const [first, ...others] = lists;
  return first?.filter((name) => others.every((list) => list.includes(name)));
}

function refused(name: string, value: string): CompatFault {
  return new CompatFault(400, 'bad_request', `Requested ${name} is invalid`, value.slice(0, 64));
}
