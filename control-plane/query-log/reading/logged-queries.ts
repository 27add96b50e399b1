/** Rows of blocks in the form of the API, but without host names; the API adds the current ones. */
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { rcodeName, rrTypeName } from '../../../shared/dns/iana.ts';
import { rdataText } from '../rows/rdata-text.ts';
import { decodeStoredAnswers } from '../rows/stored-answers.ts';
import type { BlockAnswers, BlockNames, BlockReader } from '../block/block-reader.ts';
import { repeatsByRow } from '../block/repeats.ts';

/** A row of the log: its block, and its index in the block. */
export interface RowPlace {
  readonly block: BlockReader;
  readonly nodeId: number;
  readonly row: number;
  readonly timestampUs: number;
  /** Id of the run times 2^32 plus the sequence number in the run. */
  readonly id: number;
}

/** Names that blocks do not contain. */
export interface LoggedQueryContext {
  readonly nodeOf: (id: number) => string;
}

interface Columns {
  readonly names: BlockNames;
  readonly nameOf: Uint16Array;
  readonly clientOf: Uint16Array;
  readonly outcomeOf: Uint16Array;
  readonly responseTimes: Uint32Array;
  readonly answers: BlockAnswers | null;
  /** Number of repeats by row; null if no row has repeats. */
  readonly repeats: Uint32Array | null;
}

/** Converts the rows of one block for display; all columns are decoded at once. @throws {DamagedBlock} */
export function converterOf(
  block: BlockReader,
  context: LoggedQueryContext,
): (place: RowPlace) => LoggedQuery {
  const columns = columnsOf(block);
  return (place) => toLoggedQuery(place, columns, context);
}

function columnsOf(block: BlockReader): Columns {
  return {
    names: block.names(),
    nameOf: block.nameOf(),
    clientOf: block.clientOf(),
    outcomeOf: block.outcomeOf(),
    responseTimes: block.responseTimes(),
    answers: block.answers(),
    repeats: repeatsByRow(block.head),
  };
}

function toLoggedQuery(
  { block, row, id, timestampUs, nodeId }: RowPlace,
  columns: Columns,
  { nodeOf }: LoggedQueryContext,
): LoggedQuery {
  const [client, groupId, , , clientId = null] = block.head.clients[columns.clientOf[row]!]!;
  const [
    qtype,
    status,
    rcode,
    protocol,
    dnssec,
    cached,
    upstream,
    ,
    answerType,
    extendedError = -1,
    origin = null,
  ] = block.head.outcomes[columns.outcomeOf[row]!]!;
  const { domain, source, rule, alias } = nameOf(block, columns.names, columns.nameOf[row]!);
  const records = columns.answers?.recordsOf(row) ?? null;
  return {
    id,
    timestamp: new Date(Math.floor(timestampUs / 1000)).toISOString(),
    node: nodeOf(nodeId),
    client,
    client_hostname: null,
    group_id: groupId,
    domain,
    type: rrTypeName(qtype),
    protocol,
    status,
    block_source: source,
    block_rule: rule,
    block_alias: alias,
    rcode: rcodeName(rcode),
    response_time_us: columns.responseTimes[row]!,
    cached,
    upstream,
    dnssec_status: dnssec,
    answers: records === null ? emptyOrNull(answerType) : decodeStoredAnswers(domain, records, rdataText),
    repeats: columns.repeats?.[row] ?? 0,
    client_id: clientId,
    answer_type: answerType === undefined || answerType === 0 ? null : rrTypeName(answerType),
    extended_error: extendedError < 0 ? null : extendedError,
    decision_origin: origin,
  };
}

/** An answer without records is known to be empty, whether or not records are stored. */
function emptyOrNull(answerType: number | undefined): LoggedQuery['answers'] {
  return answerType === 0 ? [] : null;
}

function nameOf(
  block: BlockReader,
  { texts, starts, rules, offsets }: BlockNames,
  place: number,
): { domain: string; source: string | null; rule: string | null; alias: string | null } {
  const domain = texts.toString('latin1', starts[place], starts[place + 1]! - 1);
  const rulePlace = rules[place]!;
  if (rulePlace === 0) return { domain, source: null, rule: null, alias: null };
  const [source, before, atName, after] = block.head.rules[rulePlace - 1]!;
  if (!atName) return { domain, source, rule: before, alias: after || null };
  const ruleName = domain.slice(offsets[place]) || '.';
  return { domain, source, rule: before + ruleName + after, alias: null };
}
