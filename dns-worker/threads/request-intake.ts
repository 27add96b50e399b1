/**
 * The intake of a resolve thread: messages of its listeners, which the pipeline may answer immediately, and misses of
 * the answer thread. Requests that need an upstream go to the forwarder.
 */
import { systemClock } from '../../shared/clock.ts';
import { FlagsHigh, FlagsLow, Header } from '../../shared/dns/wire.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { Protocol, type ProtocolCode } from '../../shared/query-log.ts';
import type { Forwarder } from '../forward/forwarder.ts';
import type { ClientRequest } from '../forward/waiting-request.ts';
import type { UdpReply } from '../listeners/udp-reply.ts';
import type { Pipeline } from '../pipeline.ts';
import { stampArrival } from '../query/arrival-clock.ts';
import { Query, StageResult } from '../query/query.ts';
import type { Reporter } from '../report/reporter.ts';
import type { Miss } from '../misses/miss-reader.ts';

/** Size of the buffer for a message and its answer, in bytes. */
export const SCRATCH_SIZE = 65_535;

/** The sender of a message to this thread, and how to reply. */
export interface Asker {
  /** Address of the sender, 16 bytes. */
  readonly address: Uint8Array;
  readonly protocol: ProtocolCode;
  /** Key of the client in lower case; '' = none. */
  readonly clientKey: string;
  /** Maximum size of the answer; by default `SCRATCH_SIZE`. */
  readonly capacity?: number;
  /** Whether Weir itself sent the query, which is then neither logged nor counted. */
  readonly isOwn?: boolean;
  /** Sends the reply; the bytes are valid only during the call. */
  send(reply: Uint8Array): void;
  /** Called if no reply is sent. */
  drop?(): void;
}

interface IntakeParts {
  readonly pipeline: Pipeline;
  readonly forwarder: Forwarder;
  readonly reporter: Reporter;
  /** Sends replies to queries that the answer thread has received; null without an answer thread. */
  readonly udpReply: UdpReply | null;
}

/** Handles requests. One per resolve thread. */
export class RequestIntake {
  private readonly pipeline: Pipeline;
  private readonly forwarder: Forwarder;
  private readonly reporter: Reporter;
  private readonly udpReply: UdpReply | null;
  private readonly query = new Query();
  private readonly scratch = new Uint8Array(SCRATCH_SIZE);

  constructor({ pipeline, forwarder, reporter, udpReply }: IntakeParts) {
    this.pipeline = pipeline;
    this.forwarder = forwarder;
    this.reporter = reporter;
    this.udpReply = udpReply;
  }

  /** Runs a message through the pipeline; if the query is unresolved, it waits for the resolver. */
  answer(message: Uint8Array, asker: Asker): void {
    const { query, scratch, reporter, pipeline } = this;
    scratch.set(message);
    query.clientBytes = asker.address;
    query.clientAt = 0;
    query.protocol = asker.protocol;
    query.clientKey = asker.clientKey;
    stampArrival(query, systemClock.nowMs(), systemClock.monotonicMs());
    query.begin(scratch, 0, message.length, asker.capacity ?? SCRATCH_SIZE);
    query.isOwn = asker.isOwn ?? false;
    const result = pipeline.run(query);
    if (result === StageResult.UNRESOLVED) {
      this.forwarder.take(this.waitingFrom(asker));
    } else if (result === StageResult.ANSWERED) {
      asker.send(scratch.subarray(0, query.replyLength));
      reporter.answered(query, pipeline.snapshot.version);
      reporter.publish((systemClock.monotonicMs() - query.arrivedMonotonicMs) * 1000);
      if (query.wantsRefresh) this.forwarder.refresh(asQuery(this.waitingFrom(asker)));
    } else {
      // The query was logged as a sample of a refused client's queries.
      reporter.publish((systemClock.monotonicMs() - query.arrivedMonotonicMs) * 1000);
      asker.drop?.();
    }
  }

  /** Handles a query that the answer thread could not answer. */
  takeMiss(miss: Miss): void {
    const waiting = this.waitingFromMiss(miss);
    if (miss.isRefresh) this.forwarder.refresh(asQuery(waiting));
    else this.forwarder.take(waiting);
  }

  /** Copies the data that a request needs while it waits. */
  private waitingFrom(asker: Asker): ClientRequest {
    const { query } = this;
    return {
      kind: 'client',
      message: headerAndQuestion(query.bytes.slice(query.at, query.at + query.questionEnd)),
      client: asker.address.slice(),
      clientKey: query.clientKey,
      protocol: query.protocol,
      arrivedMs: query.arrivedMs,
      arrivedMonotonicMs: query.arrivedMonotonicMs,
      udpSize: query.hasEdns ? query.udpSize : 0,
      dnssecOk: query.dnssecOk,
      ecs: query.copyEcs(),
      cookie: query.copyCookie(),
      hasValidCookie: query.hasValidCookie,
      streamOptions: query.streamOptions,
      isRateLimited: query.limitedBy === LimitReason.QUESTIONS,
      firstTry: null,
      isOwn: asker.isOwn ?? false,
      passedVersion: query.aliasLength === 0 ? this.pipeline.snapshot.version : NOT_PASSED,
      send: (reply) => asker.send(reply),
    };
  }

  private waitingFromMiss(miss: Miss): ClientRequest {
    const { origin } = miss;
    return {
      kind: 'client',
      message: headerAndQuestion(miss.message),
      client: miss.client,
      clientKey: '',
      protocol: Protocol.udp,
      arrivedMs: miss.arrivedMs,
      arrivedMonotonicMs: miss.arrivedMonotonicMs,
      udpSize: miss.udpSize,
      dnssecOk: miss.dnssecOk,
      ecs: miss.ecs,
      cookie: miss.cookie,
      hasValidCookie: miss.hasValidCookie,
      streamOptions: 0,
      isRateLimited: miss.isRateLimited,
      firstTry: miss.firstTry,
      isOwn: false,
      passedVersion: miss.passedVersion,
      send: (reply) => this.udpReply?.send(reply, origin),
    };
  }
}

/** Converts the header of a reply back to that of a query: only RD and CD come from the client. */
function asQuery(request: ClientRequest): ClientRequest {
  const { message } = request;
  message[Header.FLAGS_HIGH] = FlagsHigh.RD;
  message[Header.FLAGS_LOW] = message[Header.FLAGS_LOW]! & FlagsLow.CD;
  message[Header.QDCOUNT + 1] = 1;
  return request;
}

/** Clears the counts of the sections after the question, because these sections were not copied. */
function headerAndQuestion(message: Uint8Array): Uint8Array {
  message.fill(0, 6, 12);
  return message;
}
