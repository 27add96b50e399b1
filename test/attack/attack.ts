/** An attack: it starts, runs while good clients send queries, and reports its results when it is stopped. */
import type { Weir } from '../support/weir/weir-process.ts';

/** Target of an attack, and its helpers. */
export interface Target {
  readonly weir: Weir;
  /** Number of connections so far to the only upstream, which Weir queries over TCP. */
  readonly upstreamConnections: () => Promise<number>;
  /** The folder of `file:` lists. */
  readonly listFolder: string;
}

/** A kind of attack. */
export interface Attack {
  /** Number of the finding in the security review that the attack tests. */
  readonly fault: number;
  readonly name: string;
  /** Starts the attack; the returned function stops it and returns its results in one line. */
  readonly begin: (target: Target) => Promise<() => Promise<string>>;
}

/** Runs `work` every `everyMs` until the returned function is called; ignores its failures. */
export function repeat(everyMs: number, work: () => void): () => void {
  const timer = setInterval(work, everyMs);
  return () => clearInterval(timer);
}
