/** Messages to and from the thread that tests upstream servers once, before they are stored in a configuration. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';
import type { WorkerSettings } from './messages.ts';

/** The servers to ask, and the parameters. */
export interface UpstreamTestStart extends Pick<WorkerSettings, 'bootstrap' | 'extraCa'> {
  /** Servers, each of which is asked separately. */
  readonly servers: readonly UpstreamSettings[];
  /** Time limit for each question. */
  readonly timeoutMs: number;
  /** Whether servers that answer are also asked for signed records. */
  readonly asksSignatures: boolean;
}

/** How a server handles DNSSEC: it validates, it includes signatures, it removes them; null = unknown. */
export type SignatureFinding = 'validates' | 'signed' | 'unsigned' | null;

/** Result of asking one server. */
export interface UpstreamTrial {
  /** Reason why the server cannot be used; null if it has answered. */
  readonly fault: string | null;
  /** Whether the server answered with a DNS message, even with a refusal. */
  readonly isReachable: boolean;
  /** Milliseconds that a question took on an open connection; null without an answer. */
  readonly latencyMs: number | null;
  readonly signatures: SignatureFinding;
}

/** Results for each server, in order. */
export type UpstreamTestAnswer = readonly UpstreamTrial[];
