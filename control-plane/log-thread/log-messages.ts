/**
 * Every message between the control plane and the log thread. All messages are plain data. Messages to the thread
 * arrive in order. A message is handled before any log record that was written after it was sent
 * (`GivenNames.catchUp`).
 */
import type { LogPressure } from '../../shared/query-log.ts';
import type { SentLine } from '../../shared/threads/sent-logger.ts';
import type { WorkerMemory } from '../../shared/threads/messages.ts';
import type { ProbeQuery } from '../clients/probes/probe-watch.ts';
import type { ManualRows, NumberedRules } from '../policy/snapshot/rule-names/rule-history.ts';
import type { NetworkPrefixes } from '../query-log/store/limited-networks.ts';
import type { QueryLogPrivacy } from '../query-log/store/privacy.ts';
import type { TakenRows } from '../query-log/tail/own-rows.ts';
import type { DatabaseStatus } from '../storage/db/database.ts';
import type { SentTarget } from '../storage/db/database-target.ts';

/** Settings of the thread. */
export interface LogSettings {
  /** `off` if queries are not logged. */
  readonly privacy: QueryLogPrivacy;
  /** Privacy of the stream of queries (dnstap). */
  readonly streamPrivacy: QueryLogPrivacy;
  readonly limitedPrefixes: NetworkPrefixes;
  readonly pressure: LogPressure;
}

/** The state of the database, as reported by the control plane. */
export interface GivenDatabase {
  readonly status: DatabaseStatus;
  /** Null without a connection. */
  readonly target: SentTarget | null;
}

/** Rules of a snapshot version, as differences from the version that was sent before. */
export interface SentRules extends Pick<NumberedRules, 'publishedAtMs'> {
  readonly type: 'rules';
  readonly version: number;
  readonly compiled?: NumberedRules['compiled'];
  readonly rows: Partial<ManualRows>;
  /** Only the changed managed domains, if there are few; see `withChanges()`. */
  readonly managed?: {
    readonly ids: readonly number[];
    readonly rows: ManualRows['managedDomains'];
  };
}

/** Configured text of the upstream at `index` of log records. */
export interface SentUpstream {
  readonly type: 'upstream';
  readonly index: number;
  readonly text: string;
}

/** Texts for the ids and indexes in log records. */
export type SentNames = SentRules | SentUpstream;

/** Offsets in the memory that both threads share. */
export const LogControl = {
  /** Word: 1 = rows may be stored for this node. */
  MAY_STORE_WORD: 0,
  /** Word that the thread increments every second, as a heartbeat. */
  BEAT_WORD: 1,
  /** Offsets, in f64 words, of the numbers of dnstap frames that were sent and that were lost. */
  STREAM_SENT_DOUBLE: 4,
  STREAM_LOST_DOUBLE: 5,
  BYTES: 64,
} as const;

/** Data with which the thread starts. */
export interface LogThreadStart {
  readonly rings: readonly Pick<WorkerMemory, 'answerLog' | 'resolveLog'>[];
  /** Memory with the words of `LogControl`. */
  readonly control: SharedArrayBuffer;
  /** The memory of `createTallyMemory()`. */
  readonly tally: Float64Array;
  readonly dataDir: string;
  readonly nodeId: number;
  /** Key of the run that contains the rows. If the thread is replaced, the run continues. */
  readonly runKey: string;
  readonly settings: LogSettings;
  readonly database: GivenDatabase;
  /** Tokens of open probes. */
  readonly probes: readonly string[];
  /** Value of `logging.dnstap`, with this node's data for frames; null = no stream. */
  readonly stream: { readonly target: string; readonly identity: string; readonly version: string } | null;
}

/** A request, to which the thread replies once, by `done` or by another message with the same id. */
export type LogRequest =
  /** Read all log records, and store the collected rows. */
  | { readonly type: 'flush' }
  /** Return the rows for live tails since the last request of this type. */
  | { readonly type: 'take-tail' }
  /** Read the remaining records, then stop reading. */
  | { readonly type: 'stop-reading' }
  /** Store or spool all rows, then end the thread. */
  | { readonly type: 'close'; readonly withinMs: number };

/** Reason why partitions could not be created. */
export interface DaysFailure {
  readonly reason: string;
  /** Whether the database is unavailable. */
  readonly isUnavailable: boolean;
}

/** Messages from the control plane to the log thread. */
export type ToLog =
  | SentNames
  | (LogRequest & { readonly id: number })
  | { readonly type: 'settings'; readonly settings: LogSettings }
  | { readonly type: 'database'; readonly given: GivenDatabase }
  | { readonly type: 'probes'; readonly tokens: readonly string[] }
  /** This process owns the data directory now. */
  | { readonly type: 'may-write' }
  | { readonly type: 'tail'; readonly isWanted: boolean }
  | { readonly type: 'days-made'; readonly id: number; readonly failure: DaysFailure | null }
  /** For tests: throw an unhandled error. */
  | { readonly type: 'fault' };

/** A sample of refused queries from the network of a client. */
export interface RefusedSample {
  readonly client: string;
  readonly queries: number;
  /** Time of the query in Unix milliseconds. */
  readonly atMs: number;
}

/** Messages from the log thread to the control plane. */
export type FromLog =
  | SentLine
  | { readonly type: 'done'; readonly id: number }
  | {
      readonly type: 'tail-rows';
      readonly id: number;
      readonly taken: TakenRows;
      readonly runId: number | null;
    }
  /** Reason why rows cannot be stored; null = rows can be stored. */
  | { readonly type: 'trouble'; readonly reason: string | null }
  | { readonly type: 'probe-seen'; readonly query: ProbeQuery }
  | { readonly type: 'loop-seen'; readonly token: string; readonly client: string }
  | { readonly type: 'refused'; readonly samples: readonly RefusedSample[] }
  /** Partitions of the log are missing and must be created. */
  | { readonly type: 'make-days'; readonly id: number; readonly days: readonly number[] };
