/** Parts and data of a forwarder, and which parts new settings replace. */
import type { CacheWriter } from '../cache/cache-writer.ts';
import type { ClientNetworks } from '../policy/client-networks.ts';
import type { ThreadGuard } from '../report/thread-guard.ts';
import type { NodeFlights } from '../resolve/node-flights.ts';
import type { Resolver } from '../resolve/resolver.ts';
import type { ZoneResolvers } from '../resolve/zone-resolvers.ts';
import type { ForwardZone } from '../../shared/snapshot/forward-zone-servers.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import type { ReplierParts } from './request-replier.ts';
import type { Query } from '../query/query.ts';
import type { Question } from '../resolve/response/question.ts';

/** Parts of a forwarder. */
export interface ForwarderParts extends ReplierParts {
  /** Resolver of the pools, with or without validation; `zones` contains the resolvers of forward zones. */
  readonly resolver: Pick<Resolver, 'resolve'>;
  readonly zones: ZoneResolvers;
  readonly flights: NodeFlights;
  readonly writer: CacheWriter;
  readonly networks: ClientNetworks;
  readonly guard: ThreadGuard;
  readonly settings: WorkerSettings['cache'];
  /** Trust settings of the resolver; compared by identity. */
  readonly trust: unknown;
}

/** The parts that new settings replace. */
export type ReplacedParts = Pick<
  ForwarderParts,
  'resolver' | 'zones' | 'flights' | 'settings' | 'networks' | 'trust'
>;

/**
 * The resolver that a question was passed to: the resolver of a forward zone, or the resolver of the pools at that
 * time.
 */
export interface AskedResolver extends Pick<ForwarderParts, 'resolver' | 'trust'> {
  readonly zone: ForwardZone | undefined;
}

/** A question, and the client network that it counts against (`ClientNetworks.key`). */
export type ClientQuestion = Question & { readonly network: string };

/** The network of questions that no client waits for. */
export const WEIR = '';

/** A copy of the question in `query`, for a client of this network. */
export function questionOf(query: Query, network: string): ClientQuestion {
  return {
    qname: query.qname.slice(0, query.qnameLength),
    qtype: query.qtype,
    qclass: query.qclass,
    dnssecOk: query.dnssecOk,
    checkingDisabled: query.checkingDisabled,
    ecs: query.copyEcs(),
    network,
  };
}
