/** Messages to and from the thread that asks upstream servers once, before a configuration names them. */
import type { UpstreamSettings } from '../policy/upstream-settings.ts';
import type { WorkerSettings } from './messages.ts';

/** Which servers to ask, and with what. */
export interface UpstreamTestStart extends Pick<WorkerSettings, 'bootstrap' | 'extraCa'> {
  /** Servers, each of which is asked separately. */
  readonly servers: readonly UpstreamSettings[];
  /** Time for each question. */
  readonly timeoutMs: number;
  /** Whether servers that answer are asked for signed records as well. */
  readonly asksSignatures: boolean;
}

/** How DNSSEC passes a server: it validates, it includes signatures, it removes them; null = not known. */
export type SignatureFinding = 'validates' | 'signed' | 'unsigned' | null;

/** Result of asking one server. */
export interface UpstreamTrial {
  /** Reason why it cannot be used; null if it has answered. */
  readonly fault: string | null;
  /** A DNS message came back, also one that refuses. */
  readonly isReachable: boolean;
  /** Milliseconds of a question once the connection was there; null without an answer. */
  readonly latencyMs: number | null;
  readonly signatures: SignatureFinding;
}

/** Results for each server, in order. */
export type UpstreamTestAnswer = readonly UpstreamTrial[];
