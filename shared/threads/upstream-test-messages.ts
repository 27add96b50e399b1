/** Messages to and from the thread that tests upstream servers once, before they are stored in a configuration. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';
import type { WorkerSettings } from './messages.ts';

/** The servers to query, and the parameters. */
export interface UpstreamTestStart extends Pick<WorkerSettings, 'bootstrap' | 'extraCa'> {
  /** Servers, each of which is queried separately. */
  readonly servers: readonly UpstreamSettings[];
  /** Time limit for each query. */
  readonly timeoutMs: number;
  /** Whether servers that answer are also queried for signed records. */
  readonly asksSignatures: boolean;
}

/**
 * How a server handles DNSSEC: it validates, it includes signatures without validating, or it removes them; null =
 * unknown.
 */
export type SignatureFinding = 'validates' | 'signed' | 'unsigned' | null;

/** Result of querying one server. */
export interface UpstreamTrial {
  /** Reason why the server cannot be used; null if it has answered. */
  readonly fault: string | null;
  /** Whether the server answered with a DNS message, even with a refusal. */
  readonly isReachable: boolean;
  /** Milliseconds that a query took on an open connection; null without an answer. */
  readonly latencyMs: number | null;
  readonly signatures: SignatureFinding;
}

/** Results for each server, in order. */
export type UpstreamTestAnswer = readonly UpstreamTrial[];
