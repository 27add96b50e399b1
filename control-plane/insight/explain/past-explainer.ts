/**
 * Explains queries by an earlier generation of policy, that is, by the lists, rules, groups and schedules of that time,
 * if the generation is still on this node's disk. The current configuration and the current addresses of clients are
 * used. Upstreams are not queried, because the log contains their answers.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import type { FromPast, PastQuestion } from '../../../shared/threads/past-messages.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import type { CompiledRules } from '../../policy/compile/table/compiled-rules.ts';
import type { BlockingSettings } from '../../policy/change/blocking-settings.ts';
import type { LivePolicy } from '../../policy/change/runtime-state.ts';
import type { PolicyRows } from '../../policy/change/rows.ts';
import { RuleHistory } from '../../policy/snapshot/rule-names/rule-history.ts';
import { buildSnapshot } from '../../policy/snapshot/build/snapshot-builder.ts';
import type { Generations } from '../../policy/snapshot/publish/generations.ts';
import type { AskedServersParts } from './asked-servers.ts';
import { Explainer, type Question } from './explainer.ts';

const ENTRY = new URL('../../../dns-worker/threads/past-thread.ts', import.meta.url);
/** JavaScript heap of the thread, in MiB; tables are outside the heap. */
const HEAP_MIB = 64;

/** Dependencies of the explainer. */
export interface PastExplainerParts {
  readonly generations: Pick<Generations, 'at'>;
  /** The active rules, which an earlier generation may share. */
  readonly activeRules: () => CompiledRules;
  readonly blocking: () => BlockingSettings;
  /** As in `ExplainerParts`. */
  readonly servers: AskedServersParts;
  /** Runtime state for these rows at a given time (Unix milliseconds), as far as it is known. */
  readonly liveAt: (rows: PolicyRows, momentMs: number) => LivePolicy;
}

/** Explains queries by earlier generations, one at a time, because each may need a second rule table in memory. */
export class PastExplainer {
  private readonly parts: PastExplainerParts;
  private readonly turns = new Semaphore(1);

  constructor(parts: PastExplainerParts) {
    this.parts = parts;
  }

  /**
   * The explanation by the generation that was active on this node at a given time (Unix milliseconds); null if this
   * generation is not stored.
   */
  explainAt(question: Question, momentMs: number, signal: AbortSignal): Promise<ExplainAnswer | null> {
    return this.turns.run(async () => {
      signal.throwIfAborted();
      const { generations, activeRules, blocking, liveAt, servers } = this.parts;
      const kept = await generations.at(momentMs, activeRules());
      if (kept === null) return null;
      const { version, compiled, rows } = kept;
      const snapshot = buildSnapshot(version, compiled, rows, blocking(), liveAt(rows, momentMs));
      const history = new RuleHistory();
      history.add({ snapshot, compiled, rows });
      const explainer = new Explainer({
        ask: (asked) => explanationOf({ snapshot, ...asked }, signal),
        publisher: {
          describeRule: (of, rule) => history.describe(of, rule),
          describeSchedule: (of, groupId) => history.describeSchedule(of, groupId),
          listsContaining: (of, rules, groupId) => history.listsContaining(of, rules, groupId),
        },
        servers,
        // No upstream is queried for this explanation; the log contains the one that answered.
        upstreamName: () => undefined,
        // Lines are not searched, because the copy of the list may be newer.
        findLine: async () => null,
      });
      return explainer.explain(question);
    });
  }
}

/** Explains the query in a separate thread, which ends when the signal is aborted. */
async function explanationOf(question: PastQuestion, signal: AbortSignal): Promise<FromPast> {
  const worker = new Worker(ENTRY, {
    workerData: question,
    name: 'past',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  try {
    const [explanation] = (await once(worker, 'message', { signal })) as [FromPast];
    return explanation;
  } finally {
    await worker.terminate();
  }
}
