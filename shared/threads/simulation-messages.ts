/**
 * Messages to and from the thread that simulates a policy: two snapshots, the distinct questions of the query log, and
 * the changes that the second snapshot would make. All large data is in shared memory.
 */
import type { QueryStatusCode } from '../query-log.ts';
import type { SnapshotBuffers } from '../snapshot/snapshot.ts';
import type { ExplainedRule } from './explanation.ts';

/** Words of a question; each is an i32. */
export const QuestionWord = {
  /** Index of the name. */
  NAME: 0,
  /** The qtype, and from bit 16 on `QuestionMark` bits. */
  TYPE: 1,
  /** Index of the client. */
  CLIENT: 2,
  /** Index of the answer plus one; 0 = the answer contains nothing that policy could block; or `ANSWER_UNKNOWN`. */
  ANSWER: 3,
  /** Number of queries with this question. */
  COUNT: 4,
} as const;
export const QUESTION_WORDS = 5;
/** Value if the log has no answer of an upstream. */
export const ANSWER_UNKNOWN = -1;

/** Flags of a question. */
export const QuestionMark = {
  /** The question was blocked, possibly because of its answer. */
  MAYBE_BY_ANSWER: 1 << 16,
} as const;

/** Texts or records by their index. */
export interface NumberedBytes {
  readonly count: number;
  /** u32: start of each text or record, and the end of the last one. */
  readonly starts: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
}

/** Distinct questions of a period. */
export interface LoggedQuestions {
  readonly count: number;
  /** The questions, `QUESTION_WORDS` words each. */
  readonly questions: SharedArrayBuffer;
  /** Names in presentation form in lower case, without the final dot. */
  readonly names: NumberedBytes;
  /** Resource records with TTL 0; compression pointers are offsets into a message whose question is the name. */
  readonly answers: NumberedBytes;
  readonly clientCount: number;
  /** Addresses, 16 bytes each. */
  readonly clients: SharedArrayBuffer;
  /** i32 each: the client that identified itself by its key; 0 = none. */
  readonly clientIds: SharedArrayBuffer;
}

/** `workerData` of the thread. */
export interface SimulationStart {
  readonly before: SnapshotBuffers;
  readonly after: SnapshotBuffers;
}

/** Message to the thread when it is ready. */
export interface SimulationOrder {
  readonly questions: LoggedQuestions;
  /** Maximum number of names and clients to list. */
  readonly limit: number;
}

/** Messages from the thread. */
export type FromSimulation =
  /** The snapshots are open; `checksAddresses`: whether rules apply to addresses in answers. */
  | { readonly type: 'opened'; readonly checksAddresses: boolean }
  | { readonly type: 'simulated'; readonly changes: SimulatedChanges };

/** The decision of one policy. */
export interface SimulatedDecision {
  readonly status: QueryStatusCode;
  readonly groupId: number;
  /** The rule that blocks or allows the question; null = none. */
  readonly rule: ExplainedRule | null;
}

/** A name or client, given by its index, with its number of queries. */
export type NumberCount = readonly [number: number, queries: number];

/** A name with changes. */
export interface ChangedName {
  readonly name: number;
  readonly newlyBlocked: number;
  readonly newlyAllowed: number;
  /** Type of the changed question for this name that has the most queries. */
  readonly qtype: number;
  readonly before: SimulatedDecision;
  readonly after: SimulatedDecision;
  readonly clientCount: number;
  /** The clients with the most changed queries. */
  readonly clients: readonly NumberCount[];
}

/** A client with changed queries. */
export interface ChangedClient {
  readonly client: number;
  readonly newlyBlocked: number;
  readonly newlyAllowed: number;
  readonly nameCount: number;
  readonly names: readonly NumberCount[];
}

/** Sums of the changes in one direction. */
export interface ChangeTotals {
  readonly queries: number;
  readonly names: number;
  readonly clients: number;
}

/** Changes that the second snapshot would make. */
export interface SimulatedChanges {
  readonly newlyBlocked: ChangeTotals;
  readonly newlyAllowed: ChangeTotals;
  /** Queries that cannot be decided: they were blocked because of an answer that is not in the log. */
  readonly undecided: number;
  /** Newly allowed queries whose answer is not in the log and could still be blocked. */
  readonly unknownAnswers: number;
  readonly changedNames: number;
  readonly changedClients: number;
  readonly names: readonly ChangedName[];
  readonly clients: readonly ChangedClient[];
}
