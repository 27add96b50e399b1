/** The data of a request between the answer thread and its reply. */
import type { ProtocolCode } from '../../shared/query-log.ts';
import type { PipelineRecorder } from '../pipeline.ts';
import type { Query } from '../query/query.ts';

/** A request that waits for the resolver; every buffer is its own. */
export interface WaitingRequest {
  /** Header and question at least. */
  readonly message: Uint8Array;
  /** 16 bytes. */
  readonly client: Uint8Array;
  /** See `Query`. */
  readonly clientKey: string;
  readonly protocol: ProtocolCode;
  /** Unix milliseconds. */
  readonly arrivedMs: number;
  /** `Clock.monotonicMs` */
  readonly arrivedMonotonicMs: number;
  /** 0 = no EDNS. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  /** Data of the ECS option that goes along (RFC 7871); null = none. */
  readonly ecs: Uint8Array | null;
  /** The DNS cookie that goes back with the reply (RFC 7873); null = none. */
  readonly cookie: Uint8Array | null;
  /** See `Query`. */
  readonly hasValidCookie: boolean;
  /** A stale answer was sent meanwhile: the result is for the cache only. */
  readonly isAnswered?: boolean;
  /** See `Query`. */
  readonly streamOptions: number;
  /** Weir itself asks: neither logged nor counted. */
  readonly isOwn?: boolean;
  /** Over its network's limit, and answered in a dry run. */
  readonly isRateLimited: boolean;
  /**
   * Version of the snapshot in which policy and local names last let the question pass: no need to check again while it
   * is in force. NOT_PASSED = none has.
   */
  passedVersion: number;
  /** For an explanation: receives the checks; nothing is sent, logged or counted. */
  readonly explained?: PipelineRecorder & { answered(query: Query): void };
  /** For a step of a chain: receives the unjudged answer; nothing is sent or logged. */
  readonly takeStep?: (query: Query) => void;
  /** Of a step: how many aliases led to its name. */
  readonly hops?: number;
  /** Of a step: what validating those before it cost, see `Answered`. */
  readonly cost?: number;
  /** Of a step: as the client's query has it, see `Query`. */
  readonly grantEndsAtSecs?: number;
  /** Of a step: an upstream's answer led to its name, which may be one that this server knows itself. */
  readonly isNamedByUpstream?: boolean;
  /** Takes the reply; the bytes are valid only during the call. */
  send(reply: Uint8Array): void;
}

/** The same request, already answered. */
export function asRefresh(request: WaitingRequest): WaitingRequest {
  return { ...request, isAnswered: true };
}
