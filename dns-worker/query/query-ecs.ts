/**
 * ECS, EDNS Client Subnet (RFC 7871), in a request: read from its OPT record into the query, if subnets are forwarded.
 * The option only affects for which clients an answer is valid: the client's group depends on its source address.
 */
import { isQueryEcs } from '../../shared/dns/ecs-option.ts';
import { findOption, NO_OPTION, OPTION_HEAD_SIZE, optionEnd } from '../../shared/dns/edns-option.ts';
import { EdnsOption } from '../../shared/dns/iana.ts';
import type { Query } from './query.ts';

/**
 * Stores the subnet of a parsed request in `query.ecs`; false if the option is malformed, which is answered with
 * FORMERR.
 */
export function readEcs(query: Query): boolean {
  // The format of options of other EDNS versions is unknown.
  if (!query.hasEdns || query.ednsVersion !== 0) return true;
  const { bytes, optionsAt, optionsEnd } = query;
  const at = findOption(bytes, optionsAt, optionsEnd, EdnsOption.ECS);
  if (at < 0) return at === NO_OPTION;
  const next = optionEnd(bytes, at);
  const dataAt = at + OPTION_HEAD_SIZE;
  if (!isQueryEcs(bytes, dataAt, next - dataAt)) return false;
  // With two ECS options, the subnet of the answer would be ambiguous.
  if (findOption(bytes, next, optionsEnd, EdnsOption.ECS) !== NO_OPTION) return false;
  query.setEcs(bytes, dataAt, next - dataAt);
  return true;
}
