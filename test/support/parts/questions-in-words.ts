/** Distinct questions of a log in a readable form, as the simulation thread receives them. */
import { DistinctQuestions } from '../../../control-plane/query-log/logged-questions/distinct-questions.ts';
import { BlockReader } from '../../../control-plane/query-log/block/block-reader.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { QueryStatus, type QueryStatusName } from '../../../shared/query-log.ts';
import type { LoggedQuestions } from '../../../shared/threads/simulation-messages.ts';
import { response, question, type TestRecord } from '../dns/built-messages.ts';
import { blockOf, HOUR_MS } from './blocks-of-rows.ts';
import { logRow, wireName } from './log-row.ts';

/** A logged query. */
export interface QueryInWords {
  readonly name: string;
  readonly client?: string;
  readonly qtype?: number;
  readonly status?: QueryStatusName;
  readonly rcode?: number;
  readonly answers?: readonly TestRecord[];
  readonly times?: number;
}

/** The answer section of a response with these records. */
export function answerSection(name: string, answers: readonly TestRecord[]): Uint8Array {
  const message = response(question(name, 1), { answers: [...answers] });
  return message.subarray(12 + wireName(name).length + 4);
}

/** Collected queries. */
export async function gatheredOf(
  queries: readonly QueryInWords[],
  withAddresses = false,
): Promise<DistinctQuestions> {
  const rows = queries.flatMap(({ name, client = '192.0.2.1', status = 'CACHED', answers, ...query }) =>
    Array.from({ length: query.times ?? 1 }, () =>
      logRow({
        timestampMs: HOUR_MS + 1000,
        client: addressFromText(client)!,
        qname: wireName(name),
        qtype: query.qtype ?? 1,
        rcode: query.rcode ?? 0,
        status: QueryStatus[status],
        answers: answers === undefined ? null : answerSection(name, answers),
      }),
    ),
  );
  const gathered = new DistinctQuestions(withAddresses, { questions: 1000, bytes: 1_000_000 });
  gathered.add(new BlockReader(await blockOf(rows)), null);
  return gathered;
}

/** Queries as distinct questions. */
export async function questionsInWords(
  queries: readonly QueryInWords[],
  withAddresses = false,
): Promise<LoggedQuestions> {
  return (await gatheredOf(queries, withAddresses)).shared();
}
