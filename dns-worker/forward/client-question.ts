/** A client's question to the resolver. */
import type { Query } from '../query/query.ts';
import type { Question } from '../resolve/response/question.ts';

/** A question, and the network that it counts for (`ClientNetworks.key`). */
export type ClientQuestion = Question & { readonly network: string };

/** The network of questions that no client waits for. */
export const WEIR = '';

/** A copy of what `query` asks, for a client of this network. */
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
