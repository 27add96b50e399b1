/**
 * Explains an answer: runs a question through the pipeline like a client's, and on to the upstreams if needed, with a
 * recorder of every stage and rule. Nothing is logged or counted as a query.
 */
import type { Clock } from '../../shared/clock.ts';
import { RRClass } from '../../shared/dns/iana.ts';
import { FlagsHigh, Header, writeU16 } from '../../shared/dns/wire.ts';
import type {
  ExplainedRule,
  ExplainedStage,
  ExplainedStageName,
  Explanation,
} from '../../shared/threads/explanation.ts';
import { Protocol, QueryStatus, type QueryStatusCode } from '../../shared/query-log.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { stampArrival } from '../query/arrival-clock.ts';
import { writePrefixName } from '../policy/address-name.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import type { Pipeline, PipelineRecorder } from '../pipeline.ts';
import { Query, StageResult, type StageResultCode } from '../query/query.ts';

/** A question to explain. */
export interface QuestionToExplain {
  /** Folded wire form. */
  readonly qname: Uint8Array;
  readonly qtype: number;
  /** 16 bytes. */
  readonly client: Uint8Array;
}

const RESULTS = ['continue', 'answered', 'dropped', 'unresolved'] as const;
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

  /** Calls `done` with the explanation, at once or when the upstreams have answered. */
  explain(question: QuestionToExplain, done: (explanation: Explanation) => void): void {
    const query = new Query();
    const bytes = new Uint8Array(BUFFER_SIZE);
    const message = writeQuestion(bytes, question);
    query.clientBytes = question.client;
    // As over TCP: nothing is truncated.
    query.protocol = Protocol.tcp;
    stampArrival(query, this.clock.nowMs(), this.clock.monotonicMs());
    query.begin(bytes, 0, message.length, BUFFER_SIZE);
    const notes = new Notes(this.pipeline.snapshot.version);
    const result = this.pipeline.explain(query, notes);
    if (result !== StageResult.UNRESOLVED) {
      notes.answered(query);
      const length = result === StageResult.ANSWERED ? query.replyLength : 0;
      done(notes.explanation(query.groupId, bytes.slice(0, length)));
      return;
    }
    const { groupId } = query;
    this.forwarder.take({
      message,
      client: question.client,
      protocol: Protocol.tcp,
      arrivedMs: query.arrivedMs,
      arrivedMonotonicMs: query.arrivedMonotonicMs,
      udpSize: 0,
      dnssecOk: false,
      ecs: null,
      cookie: null,
      hasValidCookie: false,
      isRateLimited: false,
      passedVersion: NOT_PASSED,
      explained: notes,
      send: (reply) => {
        // An explanation belongs to one snapshot, since rule numbers differ between snapshots.
        if (this.pipeline.snapshot.version !== notes.snapshotVersion) this.explain(question, done);
        else done(notes.explanation(groupId, reply.slice()));
      },
    });
  }
}

/** The record of a question's stages. */
class Notes implements PipelineRecorder {
  readonly snapshotVersion: number;
  private readonly stages: ExplainedStage[] = [];
  /** Rules met since the last stage was passed. */
  private rules: ExplainedRule[] = [];
  private status: QueryStatusCode = QueryStatus.ALLOWED;
  private decidedBy: ExplainedRule | null = null;

  constructor(snapshotVersion: number) {
    this.snapshotVersion = snapshotVersion;
  }

  met(origin: RuleOriginCode, index: number, kinds: number, judged: Query, label: number): void {
    const wire = judged.qname.slice(0, judged.qnameLength);
    const name = label < 0 ? new Uint8Array(0) : nameOfRule(judged, label);
    this.rules.push({ origin, index, kinds, judged: wire, name });
  }

  passed(stage: ExplainedStageName, result: StageResultCode, detail?: string): void {
    this.stages.push({ stage, result: RESULTS[result], rules: this.rules, detail: detail ?? null });
    this.rules = [];
  }

  /** Copies the fields that the log would contain. */
  answered(query: Query): void {
    this.status = query.status;
    if (query.ruleAttribute === 0) return;
    const isText = query.ruleOrigin === RuleOrigin.REGEX || query.ruleOrigin === RuleOrigin.SPECIAL;
    const own = query.qname.slice(0, query.qnameLength);
    const standsAt =
      query.ruleNameLength > 0
        ? query.ruleName.slice(0, query.ruleNameLength)
        : own.slice(query.ruleNameOffset);
    this.decidedBy = {
      origin: query.ruleOrigin,
      index: query.ruleAttribute - 1,
      kinds: query.ruleKind,
      judged: own,
      name: isText ? new Uint8Array(0) : standsAt,
    };
  }

  explanation(groupId: number, answer: Uint8Array): Explanation {
    const { snapshotVersion, stages, status, decidedBy } = this;
    return { snapshotVersion, groupId, stages, status, decidedBy, answer };
  }
}

/** The name that a rule stands at: the judged name from one of its labels on, or a prefix of the judged address. */
function nameOfRule(judged: Query, label: number): Uint8Array {
  if (!judged.isAddress || label === 0) return judged.qname.slice(judged.labelAt[label], judged.qnameLength);
  const prefix = new Query();
  writePrefixName(judged, label, prefix);
  return prefix.qname.slice(0, prefix.qnameLength);
}

/** A plain query for the question, written to the start of `bytes`; returns a copy of it. */
function writeQuestion(bytes: Uint8Array, { qname, qtype }: QuestionToExplain): Uint8Array {
  bytes[Header.FLAGS_HIGH] = FlagsHigh.RD;
  writeU16(bytes, Header.QDCOUNT, 1);
  bytes.set(qname, Header.SIZE);
  const tail = Header.SIZE + qname.length;
  writeU16(bytes, tail, qtype);
  writeU16(bytes, tail + 2, RRClass.IN);
  return bytes.slice(0, tail + 4);
}
