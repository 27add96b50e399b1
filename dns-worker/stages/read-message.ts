/** Reads a request before the stages, which never get an unreadable message. */
import { Protocol } from '../../shared/query-log.ts';
import type { ServerCookies } from '../cookies/server-cookies.ts';
import { ParseOutcome, parseQuery, type ParseOutcomeCode } from '../query/parse-query.ts';
import { readEcs } from '../query/query-ecs.ts';
import type { Query } from '../query/query.ts';
import { readStreamOptions } from '../query/stream-options.ts';

/** Outcome if reading failed because of a bug. */
export const READ_FAILED = -1;
/** Outcome of reading a message. */
export type ReadOutcome = ParseOutcomeCode | typeof READ_FAILED;

/** Secret seeds of the hashes of names. */
interface HashSeeds {
  readonly seedLow: number;
  readonly seedHigh: number;
}

/** Reads the message that `query` points to, and the client's subnet if subnets are forwarded. Never throws. */
export function readMessage(
  query: Query,
  seeds: HashSeeds,
  cookies: ServerCookies,
  forwardsEcs: boolean,
): ReadOutcome {
  try {
    const outcome = parseQuery(query, seeds.seedLow, seeds.seedHigh);
    if (outcome !== ParseOutcome.OK && outcome !== ParseOutcome.NO_QUESTION) return outcome;
    if (!cookies.read(query)) return ParseOutcome.FORMAT_ERROR;
    // A message without a question is a request for a cookie (RFC 7873 section 5.4), or is malformed.
    if (outcome === ParseOutcome.NO_QUESTION && query.cookieLength === 0) return ParseOutcome.FORMAT_ERROR;
    if (query.protocol !== Protocol.udp) readStreamOptions(query);
    return forwardsEcs && !readEcs(query) ? ParseOutcome.FORMAT_ERROR : outcome;
  } catch {
    return READ_FAILED;
  }
}
