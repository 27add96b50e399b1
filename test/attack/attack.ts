/** What an attack is: it begins, goes on beside the good clients, and says at its end what it did. */
import type { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import type { Weir } from '../support/weir/weir-process.ts';

/** What is attacked, and with whose help. */
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
  /** Begins; the function that it resolves with ends the attack and says in one line what came of it. */
  readonly begin: (target: Target) => Promise<() => Promise<string>>;
}

/** Does `work` every `everyMs` until told to end; a failure of `work` is the attacker's own and ends nothing. */
export function repeat(everyMs: number, work: () => void): () => void {
  const timer = setInterval(work, everyMs);
  return () => clearInterval(timer);
}
