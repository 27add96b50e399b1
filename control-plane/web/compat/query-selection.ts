/** The filters of the compatibility API's query log in the words of Weir's. Pure. */
import { COMPAT_REPLIES, COMPAT_STATUSES, type CompatReply } from '../../../shared/api/compat/compat-api.ts';
import { COMPAT_DNSSEC } from '../../../shared/api/compat/compat-log-api.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { BLOCKED_STATUS_NAMES, QUERY_STATUS_NAMES, type QueryStatusName } from '../../../shared/query-log.ts';
import { matchesWildcards, type QueryConditions } from '../../query-log/search/query-conditions.ts';
import { CompatFault } from './compat-error.ts';
import type { Params } from './params.ts';
import { statusesOf } from './query-kinds.ts';
import { dnssecOf } from './query-row.ts';
import { placeText, upstreamPlace } from './upstream-place.ts';

/** What filters by name are looked up in. */
export interface KnownNames {
  /** The upstreams that were asked, as the configuration writes them. */
  readonly upstreams: readonly string[];
  /** Addresses of clients with their names. */
  readonly clients: Iterable<readonly [address: string, name: string]>;
}

/** Answers that are known by their rcode, which is all that can be searched for. */
const RCODES: ReadonlySet<CompatReply> = new Set(['NXDOMAIN', 'SERVFAIL', 'REFUSED', 'NOTIMP']);
const NONE: readonly QueryStatusName[] = [];

/** The conditions of a request. @throws {CompatFault} 400 for a value that there is not */
export function conditionsOf(params: Params, known: KnownNames): QueryConditions {
  const upstream = params.text('upstream');
  const statuses = [statusesBy(params), dnssecIsNone(params) ? NONE : undefined, ownAnswersBy(upstream)];
  return {
    domainPattern: params.text('domain'),
    clientPatterns: clientsBy(params, known),
    type: typeBy(params),
    statuses: inAll(statuses.filter((names) => names !== undefined)),
    rcode: rcodeBy(params),
    dnssec: dnssecBy(params),
    upstreams: upstream === undefined || ownAnswersBy(upstream) ? undefined : upstreamsBy(upstream, known),
  };
}

function statusesBy(params: Params): readonly QueryStatusName[] | undefined {
  const status = oneOf(params, 'status', COMPAT_STATUSES);
  return status === undefined ? undefined : statusesOf(status);
}

/** `cache`, `blocklist` and `permitted` stand for answers without an upstream, and for all that are not blocked. */
function ownAnswersBy(upstream: string | undefined): readonly QueryStatusName[] | undefined {
  switch (upstream) {
    case 'cache':
      return [...statusesOf('CACHE'), ...statusesOf('CACHE_STALE')];
    case 'blocklist':
      return BLOCKED_STATUS_NAMES;
    case 'permitted':
      return QUERY_STATUS_NAMES.filter((name) => !BLOCKED_STATUS_NAMES.includes(name));
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

function typeBy(params: Params): string | undefined {
  const type = params.text('type');
  if (type === undefined) return undefined;
  if (rrTypeCode(type) === undefined) throw refused('type', type);
  return type;
}

function rcodeBy(params: Params): string | undefined {
  const reply = oneOf(params, 'reply', COMPAT_REPLIES);
  if (reply === undefined) return undefined;
  if (!RCODES.has(reply)) throw refused('reply', reply);
  return reply;
}

function dnssecBy(params: Params): QueryConditions['dnssec'] {
  const state = oneOf(params, 'dnssec', COMPAT_DNSSEC);
  return state === undefined ? undefined : dnssecOf(state);
}

/** A state was asked for that no answer of Weir has. */
function dnssecIsNone(params: Params): boolean {
  return params.text('dnssec') !== undefined && dnssecBy(params) === undefined;
}

function oneOf<Name extends string>(params: Params, name: string, names: readonly Name[]): Name | undefined {
  const value = params.text(name);
  const found = names.find((one) => one === value?.toUpperCase());
  if (value !== undefined && found === undefined) throw refused(name, value);
  return found;
}

/** What all lists have; undefined without a list. */
function inAll(lists: readonly (readonly QueryStatusName[])[]): readonly QueryStatusName[] | undefined {
  const [first, ...others] = lists;
  return first?.filter((name) => others.every((list) => list.includes(name)));
}

function refused(name: string, value: string): CompatFault {
  return new CompatFault(400, 'bad_request', `Requested ${name} is invalid`, value.slice(0, 64));
}
