/**
 * Answers queries of type ANY for any name with one HINFO record that names RFC 8482 (section 4.2): upstreams' answers
 * to ANY are useful for reflection attacks and never known to be complete. A local name was already answered with one
 * of its RRsets (section 4.1).
 */
import { RRType } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { type Query, StageResult, type StageResultCode } from '../query/query.ts';
import { answerTyped } from '../respond/block-answer.ts';

/** The CPU field names the RFC; the OS field is empty. */
const CPU = Buffer.from('RFC8482');
const HINFO = Uint8Array.of(CPU.length, ...CPU, 0);
/** TTL in seconds: resolvers may cache the record for long, because it does not change. */
const TTL_SECS = 3600;

/** Answers a query of type ANY. */
export function anyTypeStage(query: Query): StageResultCode {
  query.status = QueryStatus.LOCAL;
  answerTyped(query, RRType.HINFO, HINFO, TTL_SECS);
  return StageResult.ANSWERED;
}
