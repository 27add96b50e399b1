/**
 * Stores outcomes in the shared cache, with a lifetime and metadata; each outcome is stored once, even if several
 * clients wait for it.
 */
import { ExtendedError } from '../../shared/dns/iana.ts';
import type { WorkerSettings } from '../../shared/threads/messages.ts';
import { DnssecStatus } from '../../shared/query-log.ts';
import { clampTtls, lifetimeSecs } from './answer-lifetime.ts';
import { hasPrivateAddress } from '../cache/private-addresses.ts';
import type { Nat64Discovery } from './nat64-discovery.ts';
import type { CacheWriter } from '../cache/cache-writer.ts';
import { NO_EDE, type Query } from '../query/query.ts';
import type { CacheableAnswer } from '../resolve/response/response-reader.ts';
import type { Resolution } from '../resolve/resolver.ts';

/** Failures without a response from any server. */
const NO_REACH: ReadonlySet<string> = new Set(['timeout', 'network', 'no-upstreams']);

/** Stores answers in the cache. Each forwarder has one. */
export class AnswerKeeper {
  private readonly writer: CacheWriter;
  settings: WorkerSettings['cache'];
  private readonly nat64: Nat64Discovery;
  /** The last stored outcome: it answers all waiting clients in turn, but must be stored only once. */
  private kept: Resolution | null = null;

  constructor(writer: CacheWriter, settings: WorkerSettings['cache'], nat64: Nat64Discovery) {
    this.nat64 = nat64;
    this.writer = writer;
    this.settings = settings;
  }

  /**
   * Stores an outcome as the answer to `query`, once for all waiting clients, after limiting its TTLs. An answer for a
   * client's subnet is not stored. `upstream` is the number of the server in the log.
   */
  keepOnce(query: Query, resolution: Resolution, answer: CacheableAnswer, upstream: number): void {
    const { settings, writer } = this;
    if (this.kept === resolution) return;
    this.kept = resolution;
    clampTtls(answer, settings);
    const ttlSecs = lifetimeSecs(answer, settings);
    if (!settings.enabled || ttlSecs === 0 || query.isEcsSpecific) return;
    const staleSecs = resolution.kind === 'answer' ? settings.serveStaleSecs : 0;
    const now = query.arrivedMonotonicSecs;
    writer.store(
      {
        qname: query.qname.subarray(0, query.qnameLength),
        nameLow: query.hashLow[0]!,
        nameHigh: query.hashHigh[0]!,
        qtype: query.qtype,
        qclass: query.qclass,
        dnssecOk: query.dnssecOk,
        checkingDisabled: query.checkingDisabled,
        partition: query.partition,
      },
      answer,
      {
        storedAtSecs: now,
        expiresAtSecs: now + ttlSecs,
        staleUntilSecs: now + ttlSecs + staleSecs,
        dnssec: resolution.dnssec ?? DnssecStatus.unchecked,
        upstream,
        extendedError:
          resolution.kind === 'failed' ? extendedErrorOf(resolution) : (answer.extendedError ?? NO_EDE),
        hasPrivateAddress: hasPrivateAddress(answer, this.nat64.prefixes),
      },
    );
  }
}

/** The extended error of a failure. */
export function extendedErrorOf({ reason, extendedError }: Resolution & { kind: 'failed' }): number {
  if (extendedError !== undefined) return extendedError;
  if (NO_REACH.has(reason)) return ExtendedError.NO_REACHABLE_AUTHORITY;
  if (reason === 'overloaded' || reason === 'late') return ExtendedError.NOT_READY;
  return reason === 'unusable' ? ExtendedError.OTHER : NO_EDE;
}
