/**
 * Explains an answer: runs a question through the pipeline like a client's query, and sends queries to upstreams if
 * needed, with a recorder of every stage and rule. Nothing is logged or counted as a query.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass } from '../../shared/dns/iana.ts';
import { FlagsHigh, Header, writeQuestion, writeU16 } from '../../shared/dns/wire.ts';
import type { Explanation } from '../../shared/threads/explanation.ts';
import { Protocol } from '../../shared/query-log.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { stampArrival } from '../query/arrival-clock.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import type { Pipeline } from '../pipeline.ts';
import { Query, StageResult } from '../query/query.ts';
import { ExplanationNotes } from './explanation-notes.ts';

/** A question to explain. */
export interface QuestionToExplain {
  /** The name in lower-case wire form. */
  readonly qname: Uint8Array;
  readonly qtype: number;
  /** Address of the client, 16 bytes. */
  readonly client: Uint8Array;
  /** The key with which the client identified itself, or the id of that client; absent, '' and 0 = neither. */
  readonly clientKey?: string;
  readonly clientId?: number;
  /** Group whose policy is explained; absent and 0 = the client's group. */
  readonly groupId?: number;
}

const BUFFER_SIZE = 65_535;

/** Explains questions. One per resolve thread. */
export class Explainer {
  private readonly pipeline: Pipeline;
  private readonly forwarder: Forwarder;
  private readonly clock: Clock;

  constructor(pipeline: Pipeline, forwarder: Forwarder, clock: Clock) {
    this.pipeline = pipeline;
    this.forwarder = forwarder;
    this.clock = clock;
  }

  /** Calls `done` with the explanation, immediately or after the upstreams have answered. */
  explain(question: QuestionToExplain, done: (explanation: Explanation) => void): void {
    const query = new Query();
    const bytes = new Uint8Array(BUFFER_SIZE);
    bytes[Header.FLAGS_HIGH] = FlagsHigh.RD;
    writeU16(bytes, Header.QDCOUNT, 1);
    const message = bytes.slice(0, writeQuestion(bytes, question.qname, question.qtype, RRClass.IN));
    query.clientBytes = question.client;
    const { clientId = 0 } = question;
    const { keys } = this.pipeline.snapshot;
    const clientKey = clientId === 0 ? (question.clientKey ?? '') : keys.keyOf(clientId);
    query.clientKey = clientKey;
    // The protocol is TCP, so that nothing is truncated.
    query.protocol = Protocol.tcp;
    stampArrival(query, this.clock.nowMs(), this.clock.monotonicMs());
    query.begin(bytes, 0, message.length, BUFFER_SIZE);
    const { snapshot } = this.pipeline;
    const notes = new ExplanationNotes(snapshot.version, question.groupId);
    const result = this.pipeline.explain(query, notes);
    notes.read(query, snapshot);
    if (result !== StageResult.UNRESOLVED) {
      notes.answered(query);
      const length = result === StageResult.ANSWERED ? query.replyLength : 0;
      done(notes.explanation(query.groupId, bytes.slice(0, length)));
      return;
    }
    const { groupId } = query;
    this.forwarder.take({
      kind: 'explain',
      message,
      client: question.client,
      clientKey,
      protocol: Protocol.tcp,
      arrivedMs: query.arrivedMs,
      arrivedMonotonicMs: query.arrivedMonotonicMs,
      udpSize: 0,
      dnssecOk: false,
      ecs: null,
      passedVersion: NOT_PASSED,
      notes,
      send: (reply) => {
        // An explanation must use one snapshot, because rule numbers differ between snapshots: start again.
        if (this.pipeline.snapshot.version !== notes.snapshotVersion) this.explain(question, done);
        else done(notes.explanation(groupId, reply.slice()));
      },
    });
  }
}
