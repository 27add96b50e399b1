/** An attack: it begins, continues beside the good clients, and reports its results at its end. */
import type { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import type { Weir } from '../support/weir/weir-process.ts';

/** Target of an attack, and its helpers. */
export interface Target {
  readonly weir: Weir;
  /** The only upstream, over TCP; it runs in this process. */
  readonly upstream: ScriptedUpstream;
  /** The folder of `file:` lists. */
  readonly listFolder: string;
}

/** One kind of attack. */
export interface Attack {
  /** Number of the fault in the review that the attack is from. */
  readonly fault: number;
  readonly name: string;
  /** Begins; the returned function ends the attack and returns its results in one line. */
  readonly begin: (target: Target) => Promise<() => Promise<string>>;
}

/** Runs `work` every `everyMs` until the returned function is called; ignores its failures. */
export function repeat(everyMs: number, work: () => void): () => void {
  const timer = setInterval(work, everyMs);
  return () => clearInterval(timer);
}
