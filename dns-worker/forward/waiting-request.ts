/** The data of a request between the answer thread and its reply: one type for each origin of a question. */
import type { ProtocolCode } from '../../shared/query-log.ts';
import type { PipelineRecorder } from '../pipeline.ts';
import type { Query } from '../query/query.ts';
import type { FirstTryOutcome } from '../resolve/response/question.ts';

/** The question of a client's query; every buffer is a copy. */
export interface WaitingQuestion {
  /** A question as its client sent it; every buffer is a copy. */
  readonly message: Uint8Array;
  /** Address of the client, 16 bytes. */
  readonly client: Uint8Array;
  /** Key of the client, see `Query`. */
  readonly clientKey: string;
  readonly protocol: ProtocolCode;
  /** Wall clock at arrival, Unix milliseconds. */
  readonly arrivedMs: number;
  /** Monotonic clock at arrival (`Clock.monotonicMs`). */
  readonly arrivedMonotonicMs: number;
  /** Maximum UDP size from the OPT record; 0 = no EDNS. */
  readonly udpSize: number;
  readonly dnssecOk: boolean;
  /** Data of the ECS option to forward (RFC 7871); null = none. */
  readonly ecs: Uint8Array | null;
}

/** A question to which policy applies. */
interface PolicyQuestion extends WaitingQuestion {
  /**
   * Version of the snapshot whose policy and local names last allowed the question; while this snapshot is active, the
   * question is not checked again. NOT_PASSED = not yet allowed.
   */
  passedVersion: number;
  /** Sends the reply; the bytes are valid only during the call. */
  send(reply: Uint8Array): void;
}

/** A request of a client that waits for the reply. */
export interface ClientRequest extends PolicyQuestion {
  readonly kind: 'client';
  /** Whether Weir itself sent the request; such a request is neither logged nor counted. */
  readonly isOwn: boolean;
  /** The DNS cookie for the reply (RFC 7873); null = none. */
  readonly cookie: Uint8Array | null;
  /** Whether the cookie was valid, as in `Query`. */
  readonly hasValidCookie: boolean;
  /** Options of the reply, as in `Query`. */
  readonly streamOptions: number;
  /** Whether the request exceeds the limit of its network, but is answered because the limit is a dry run. */
  readonly isRateLimited: boolean;
  /** Outcome of the first try, see `Question`; null = there was no first try. */
  readonly firstTry: FirstTryOutcome | null;
}

/** An explanation of the answer: the reply is neither logged nor counted. */
export interface ExplainRequest extends PolicyQuestion {
  readonly kind: 'explain';
  /** Recorder of the stages and of the answer. */
  readonly notes: PipelineRecorder & { answered(query: Query): void };
}

/** The position in a chain of aliases. */
export interface ChainPosition {
  /** Number of aliases before the name. */
  readonly hops: number;
  /** Cost of validating the earlier parts, see `Answered`. */
  readonly cost: number;
  /** End of the grant of the client's query, see `Query`. */
  readonly grantEndsAtSecs: number;
}

/** A question for the target of an alias on behalf of a client: neither checked against policy nor logged. */
export interface StepRequest extends WaitingQuestion {
  readonly kind: 'step';
  readonly chain: ChainPosition;
  /** Whether the name comes from an upstream's answer; this server may have a local answer for such a name. */
  readonly isNamedByUpstream: boolean;
  /** Receives the answer. */
  readonly take: (query: Query) => void;
}

/** A request that has its reply, or has no client: the result is only cached. */
export interface RefreshRequest extends WaitingQuestion {
  readonly kind: 'refresh';
  readonly chain: ChainPosition;
}

/** A request that still needs a reply. */
export type OpenRequest = ClientRequest | ExplainRequest | StepRequest;

/** A request that waits for the resolver. */
export type WaitingRequest = OpenRequest | RefreshRequest;

const CHAIN_START: ChainPosition = { hops: 0, cost: 0, grantEndsAtSecs: 0 };

/** The position of a request's name in its chain; a client's own question is at the start. */
export function chainOf(request: WaitingRequest): ChainPosition {
  return request.kind === 'step' || request.kind === 'refresh' ? request.chain : CHAIN_START;
}

/** A copy of the request that only refreshes the cache. */
export function asRefresh(request: WaitingRequest): RefreshRequest {
  return {
    kind: 'refresh',
    message: request.message,
    client: request.client,
    clientKey: request.clientKey,
    protocol: request.protocol,
    arrivedMs: request.arrivedMs,
    arrivedMonotonicMs: request.arrivedMonotonicMs,
    udpSize: request.udpSize,
    dnssecOk: request.dnssecOk,
    ecs: request.ecs,
    chain: chainOf(request),
  };
}
