/**
 * The query log and its statistics in the form that the API requests. Rows that are still in memory are stored before a
 * request is sent to the thread, and the rows in a result get their current host names.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoggedQuery } from '../../../shared/api/query-log-api.ts';
import { invalid } from '../../api/api-error.ts';
import type { Database } from '../../storage/db/database.ts';
import { InvalidCursor } from '../reading/query-log-cursor.ts';
import type { QueryLogReader } from '../reading/query-log-reader.ts';
import type { Scans, SingleAnswerName } from './log-scans.ts';
import { type Answers, type Arguments, QUESTION_NAMES } from './questions.ts';

export interface LogQuestionsOptions {
  readonly scans: Scans;
  readonly database: Pick<Database, 'status'>;
  /** Flushes rows from memory; resolves when they are stored. */
  readonly flush: () => Promise<void>;
  /** Host name of an address, or of the client with this id if the client identified itself; null if unknown. */
  readonly hostnameOf: (address: string, clientId: number | null) => string | null;
}

type AskedQuestions = {
  readonly [Name in SingleAnswerName]: (
    argument: Arguments[Name],
    signal: AbortSignal,
  ) => Promise<Answers[Name]>;
};

/** A method for each request type of `questions.ts`. Work is cancelled when the signal is aborted. */
export interface LogQuestions extends QueryLogReader, Omit<AskedQuestions, keyof QueryLogReader> {}

/** Milliseconds for which a request waits for the newest rows. */
const MAX_WAIT_MS = 1000;

/** Creates the methods for all request types. */
export function logQuestions({ scans, database, flush, hostnameOf }: LogQuestionsOptions): LogQuestions {
  /** Waits until the rows in memory are stored, for at most `MAX_WAIT_MS`. */
  const store = async (signal: AbortSignal): Promise<void> => {
    if (database.status().state !== 'up') return;
    const enough = new AbortController();
    const late = sleep(MAX_WAIT_MS, undefined, { signal: AbortSignal.any([signal, enough.signal]) });
    await Promise.race([flush(), late.catch(() => undefined)]);
    enough.abort();
  };
  const named = (rows: readonly LoggedQuery[]): LoggedQuery[] =>
    rows.map((row) => ({ ...row, client_hostname: hostnameOf(row.client, row.client_id) }));
  const methodOf =
    <Name extends SingleAnswerName>(name: Name) =>
    async (argument: Arguments[Name], signal: AbortSignal): Promise<Answers[Name]> => {
      await store(signal);
      return scans.ask(name, argument, signal);
    };
  const names = QUESTION_NAMES.filter((name) => name !== 'rows');
  const asked = Object.fromEntries(names.map((name) => [name, methodOf(name)])) as unknown as AskedQuestions;
  return {
    ...asked,
    async page({ from, to, ...filter }, signal) {
      const request = { ...filter, fromMs: from?.getTime(), toMs: to?.getTime() };
      try {
        const page = await asked.page(request, signal);
        return { ...page, data: named(page.data) };
      } catch (error) {
        if (error instanceof InvalidCursor)
          throw invalid([{ path: 'cursor', message: 'is not a cursor of this log' }]);
        throw error;
      }
    },
    async row(id, signal) {
      const row = await asked.row(id, signal);
      return row === null ? null : named([row])[0]!;
    },
    async *rows(selection, signal) {
      await store(signal);
      for await (const rows of scans.rows(selection, signal)) yield named(rows);
    },
  };
}
