/**
 * Every message between the control plane and its threads, and the start data of a thread. `answer` threads and
 * `resolve` threads use the same protocol.
 */
import type { Explanation } from './explanation.ts';
import type { SentLine } from './sent-logger.ts';
import type { TrustAnchor, TrustPointKeys } from '../dns/trust-anchors.ts';
import type { HardeningSettings, ServerSupport } from '../policy/hardening-settings.ts';
import type { RateLimitSettings } from '../policy/rate-limit-settings.ts';
import type { UpstreamSettings, PoolStrategy, PoolSettings } from '../policy/upstream-settings.ts';
import type { SnapshotBuffers } from '../snapshot/snapshot.ts';

/** The role of a thread: it answers from policy and cache, or resolves all other questions. */
export type ThreadRole = 'answer' | 'resolve';

/**
 * Settings of a thread; the control plane derives them from the configuration. New settings take effect between two
 * batches, except those of sockets (`bindAddresses`, ports, `udpBackend`, proxies) and hooks.
 */
export interface WorkerSettings {
  /** Addresses on which to listen; IPv4 and IPv6 literals. */
  readonly bindAddresses: readonly string[];
  readonly dnsPort: number;
  readonly pools: readonly PoolSettings[];
  /** Time limit of one client question, in milliseconds. */
  readonly queryTimeoutMs: number;
  readonly bootstrap: readonly string[];
  /** PEM certificates of CAs that are trusted for upstreams in addition to the system's. */
  readonly extraCa?: readonly string[];
  readonly healthCheck: {
    readonly enabled: boolean;
    readonly intervalSecs: number;
    readonly timeoutMs: number;
    readonly failureThreshold: number;
    readonly successThreshold: number;
  };
  readonly cache: {
    readonly enabled: boolean;
    readonly minTtlSecs: number;
    readonly maxTtlSecs: number;
    readonly negativeMaxTtlSecs: number;
    readonly serveStaleSecs: number;
    readonly optimisticRefresh: boolean;
  };
  /** Trust anchors of validation; null = answers are not validated. */
  readonly dnssec: {
    readonly anchors: readonly TrustAnchor[];
    /** Names that are not validated, in lower-case wire form. */
    readonly negativeAnchors: readonly Uint8Array[];
  } | null;
  /** How queries to upstreams are protected beyond random ports and ids. */
  readonly hardening: HardeningSettings;
  /**
   * Earliest correct time, in Unix milliseconds: while the clock shows an earlier time, it is wrong, and the validity
   * periods of signatures are ignored.
   */
  readonly clockFloorMs: number;
  /** Whether clients' subnets (RFC 7871) are sent to the upstreams. */
  readonly forwardsEcs: boolean;
  readonly rateLimit: RateLimitSettings;
  readonly identity: IdentitySettings;
  /** Maximum number of concurrent TCP connections of one client address to the whole node; 0 = unlimited. */
  readonly tcpMaxConnectionsPerIp: number;
  /**
   * Maximum number of concurrent connections of one client address to the whole node, for DNS over TLS and for DNS over
   * HTTPS.
   */
  readonly dotMaxConnectionsPerIp: number;
  /** Ports of DNS over TLS and over HTTPS; null = disabled. */
  readonly dotPort: number | null;
  readonly dohPort: number | null;
  /** Networks whose PROXY header is trusted (`ProxySenders`); null = headers are not used. */
  readonly proxyProtocol: readonly string[] | null;
  /** Networks of reverse proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  /** Microseconds for which a busy answer thread may wait for a fuller batch; 0 = never. */
  readonly coalesceUs: number;
  /** Back end of the UDP sockets; `dgram` forces the fallback. */
  readonly udpBackend: 'auto' | 'dgram';
  /** Whether test hooks are enabled. */
  readonly faultInjection: boolean;
}

/** Shared memory of one worker; the control plane creates it, so that it outlives a dead thread. */
export interface WorkerMemory {
  /** `WorkerControl` words. */
  readonly control: SharedArrayBuffer;
  /** Ring of questions that the answer thread passes to the resolve thread. */
  readonly missRing: SharedArrayBuffer;
  /** Query-log rings, one per thread. */
  readonly answerLog: SharedArrayBuffer;
  readonly resolveLog: SharedArrayBuffer;
  /** Counters, one block per thread (`dns-worker/report`). */
  readonly answerCounters: SharedArrayBuffer;
  readonly resolveCounters: SharedArrayBuffer;
  /** The servers that the answer thread queries itself (`shared/memory/first-server-layout.ts`). */
  readonly firstServers: SharedArrayBuffer;
  /** Clients that sent queries, one block per thread (`shared/memory/sighting-layout.ts`). */
  readonly answerClients: SharedArrayBuffer;
  readonly resolveClients: SharedArrayBuffer;
}

/** Settings with their version, and memory that depends on them. */
export interface GivenSettings {
  readonly version: number;
  readonly settings: WorkerSettings;
  /** Buckets of the client networks of the whole node (`shared/memory/rate-buckets.ts`). */
  readonly rateBuckets: SharedArrayBuffer;
}

/** URLs of the compatibility API, with `/api/` at the end. */
export interface CompatApiUrls {
  /** URL for programs on this machine. */
  readonly local: string;
  /** URL with the name `pi.hole`. */
  readonly named: string;
}

/** Settings for what a node reveals about itself. */
export interface IdentitySettings {
  /** Networks of clients that may send queries of class CHAOS. */
  readonly chaosClients: readonly string[];
  /** Names that load balancers query; such queries are neither logged nor counted. */
  readonly healthCheckNames: readonly string[];
  /** Domains whose queries, including queries for subdomains, are excluded from the log, and from statistics. */
  readonly logExcludedDomains: readonly string[];
  readonly statsExcludedDomains: readonly string[];
  /** Whether refused clients get no answer. */
  readonly refusesSilently: boolean;
  readonly version: string;
  readonly nodeName: string;
  /** URLs of the compatibility API for its clients; null = the API is disabled. */
  readonly compatApi: CompatApiUrls | null;
  /** RDATA of SVCB records: the encrypted resolvers of this server (RFC 9462); empty = no encrypted DNS. */
  readonly designated: readonly Uint8Array[];
  /** Addresses in the certificate of these resolvers, 4 or 16 bytes each. */
  readonly designatedAddresses: readonly Uint8Array[];
}

/** Certificate of the threads' TLS servers. */
export interface ServedCertificate {
  /** PEM: the server's own certificate, followed by the chain of its issuers. */
  readonly cert: string;
  /** Private key in PEM. Must not be logged. */
  readonly key: string;
  /** 48 random bytes that all threads share, for the encryption of session tickets. */
  readonly ticketKeys: Uint8Array;
}

/** `workerData` of a thread. */
export interface ThreadStart {
  readonly role: ThreadRole;
  /** 0-based index of the worker. */
  readonly worker: number;
  /** 0-based index among all threads of the node that query upstreams; identifies the owner of locks and claims. */
  readonly asker: number;
  readonly given: GivenSettings;
  readonly memory: WorkerMemory;
  /** The answer cache of the whole node. */
  readonly cache: SharedArrayBuffer;
  /** Stream connections of each client address to the whole node (`shared/memory/connection-table.ts`). */
  readonly connections: SharedArrayBuffer;
  /** Keys of DNS cookies of the whole node (`shared/memory/cookie-key-layout.ts`). */
  readonly cookieKeys: SharedArrayBuffer;
  /** Questions in flight on the whole node (`shared/memory/claim-table.ts`). */
  readonly claims: SharedArrayBuffer;
  /** Features of upstream servers (`shared/memory/capability-table.ts`). */
  readonly capabilities: SharedArrayBuffer;
  /** Outcomes of questions in flight, which threads share (`shared/memory/outcome-rings.ts`). */
  readonly outcomes: SharedArrayBuffer;
  /** Zones that resolve threads have proven (`shared/memory/sealed-records.ts`). */
  readonly cuts: SharedArrayBuffer;
  readonly snapshot: SnapshotBuffers;
  /** Certificate for encrypted DNS; null without encrypted DNS, and in answer threads. */
  readonly certificate: ServedCertificate | null;
}

/** i32 words of `WorkerMemory.control`. */
export const WorkerControl = {
  /** Incremented by the control plane after each message to the answer thread, which then reads its port. */
  MESSAGES_WORD: 0,
  /** Descriptor of the eventfd that wakes the answer thread; 0 = none yet. */
  WAKE_FD_WORD: 1,
  /** This word is 1 while the answer thread sleeps without a timeout. */
  ANSWER_ASLEEP_WORD: 2,
  /** This word is 1 while the resolve thread sleeps until misses arrive. */
  RESOLVE_ASLEEP_WORD: 3,
  /** Incremented by the answer thread in each loop; a heartbeat. */
  ANSWER_BEAT_WORD: 4,
  /** Incremented by the resolve thread each second, from its event loop. */
  RESOLVE_BEAT_WORD: 5,
  /** `NodeState`. */
  NODE_STATE_WORD: 6,
  /** Descriptor on which the answer thread waits for its sockets to servers; 0 = none. */
  TRIES_FD_WORD: 7,
  /** Number of the UDP descriptors that follow; they stay open when a thread dies and are taken over. */
  UDP_FD_COUNT_WORD: 8,
  UDP_FD_FIRST_WORD: 9,
  /** Maximum number of UDP sockets of a worker. */
  MAX_UDP_FDS: 16,
  /** Number of descriptors of listening stream sockets; they also stay open when a thread dies. */
  LISTENER_FD_COUNT_WORD: 25,
  LISTENER_FD_FIRST_WORD: 26,
  MAX_LISTENER_FDS: 32,
  BYTES: 256,
} as const;

/**
 * State of the node, by which load balancers decide whether to send queries (`status.weir`); in ascending order. Do not
 * change the numbers: other releases also read them.
 */
export const NodeState = {
  /** Like `STARTING`, but only queries of this machine are answered, so that no client gets unfiltered answers. */
  HOLDING: 0,
  /**
   * Nothing is filtered: the node has no policy of an earlier run, and has not yet activated the policy in the
   * database.
   */
  STARTING: 1,
  READY: 2,
  /** The node is about to stop. */
  DRAINING: 3,
} as const;
export type NodeStateCode = (typeof NodeState)[keyof typeof NodeState];

/**
 * Faults that tests inject: the thread ends, throws or hangs; or an error that a thread survives is thrown in a timer,
 * in an event or in a promise.
 */
export type Fault = 'exit' | 'throw' | 'hang' | 'throw-in-timer' | 'throw-in-event' | 'reject';

/** Messages from the control plane to a thread. */
export type ToWorker =
  | { readonly type: 'snapshot'; readonly snapshot: SnapshotBuffers }
  | { readonly type: 'settings'; readonly given: GivenSettings }
  /**
   * Answer queries in flight, close the listeners, send `drained`. With `keepSockets`, the descriptors of the sockets
   * stay open. A thread that has not finished after `withinMs` is terminated.
   */
  | { readonly type: 'drain'; readonly keepSockets: boolean; readonly withinMs: number }
  /** Send `explained`: the answer to a question, and the reason for the answer. Resolve threads only. */
  | {
      readonly type: 'explain';
      readonly id: number;
      /** The name in lower-case wire form. */
      readonly qname: Uint8Array;
      readonly qtype: number;
      /** Address of the client, 16 bytes. */
      readonly client: Uint8Array;
      /** The group whose policy is explained; absent and 0 = the client's group. */
      readonly groupId?: number;
      /** The key with which the client identified itself, or the id of that client; absent, '' and 0 = neither. */
      readonly clientKey?: string;
      readonly clientId?: number;
    }
  /** Send `trust-point`: the DNSKEY RRset of a zone with trust anchors. Resolve threads only. */
  | { readonly type: 'observe-trust-point'; readonly id: number; readonly zone: Uint8Array }
  /** Replace the trust anchors. */
  | { readonly type: 'trust'; readonly anchors: readonly TrustAnchor[] }
  /** A client has queried a name of `shared/dns/loop-name.ts`. Resolve threads only. */
  | { readonly type: 'loop'; readonly token: string; readonly client: string }
  /** Use this certificate for new connections of encrypted DNS. Resolve threads only. */
  | { readonly type: 'certificate'; readonly certificate: ServedCertificate }
  /**
   * Send `asked`: the reply to a message that the web port received or that Weir itself sends. Resolve threads only.
   */
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly message: Uint8Array;
      /** Address of the client, 16 bytes. */
      readonly client: Uint8Array;
      /** Key of the client; '' = none. */
      readonly clientKey: string;
      /** Whether Weir itself sent the query, which is then neither logged nor counted. */
      readonly isOwn: boolean;
    }
  /** Test hook. */
  | { readonly type: 'fault'; readonly fault: Fault }
  /** Test hook: the thread sends `measures`. */
  | { readonly type: 'measure' };

/** Memory statistics of a thread, for tests and benchmarks only. */
export interface ThreadMeasures {
  /** Bytes ever allocated on the thread's heap. */
  readonly allocatedBytes: number;
  /** Bytes that are in use on the heap now. */
  readonly usedHeapBytes: number;
  /** Garbage collections since the last request; the first request starts the count. */
  readonly collections: readonly { readonly kind: string; readonly pauseMs: number }[];
}

/** Latencies of a server since the thread started. */
export interface LatencyCounts {
  /** Answers by `latencyClass()`. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

/** State of one upstream in its resolve thread. */
export interface UpstreamReport {
  readonly address: string;
  readonly transport: UpstreamSettings['transport'];
  readonly poolName: string;
  readonly strategy: PoolStrategy;
  readonly status: 'Healthy' | 'Unhealthy' | 'Unknown';
  readonly queries: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly lastError: string | null;
  /** Latencies of the last answers in milliseconds, in no particular order. */
  readonly latenciesMs: Float32Array;
  readonly latencyCounts: LatencyCounts;
  /** Addresses of the upstream's host name, or the literal itself. Empty until resolved. */
  readonly resolved: readonly string[];
  /** Features of the address that is queried first. */
  readonly supports: ServerSupport;
  /** Whether DNSSEC signatures are missing in the upstream's answers. */
  readonly removesSignatures: boolean;
}

/** The upstreams of a resolve thread. */
export interface UpstreamReports {
  /** Servers of the pools, in the order of the configuration. */
  readonly pools: readonly UpstreamReport[];
  /** Servers of the forward zones; the name of a server's pool is the name of the zone. */
  readonly zones: readonly UpstreamReport[];
}

/** Messages from a thread to the control plane. */
export type FromWorker =
  /** A resolve thread has chosen the back end of the worker's UDP sockets. */
  | { readonly type: 'starting'; readonly backend: 'batch' | 'dgram' }
  | { readonly type: 'ready'; readonly backend: 'batch' | 'dgram' }
  | { readonly type: 'listen-failed'; readonly address: string; readonly port: number; readonly code: string }
  | { readonly type: 'snapshot-active'; readonly version: number }
  | { readonly type: 'settings-active'; readonly version: number }
  | { readonly type: 'upstreams'; readonly upstreams: UpstreamReports }
  | { readonly type: 'explained'; readonly id: number; readonly explanation: Explanation }
  /** `keys` is null if there was no response. */
  | { readonly type: 'trust-point'; readonly id: number; readonly keys: TrustPointKeys | null }
  /** `reply` is null if no reply is sent. */
  | { readonly type: 'asked'; readonly id: number; readonly reply: Uint8Array | null }
  | { readonly type: 'measures'; readonly measures: ThreadMeasures }
  | SentLine
  | { readonly type: 'drained' };
