/**
 * Computes how a draft of policy would affect the queries in the log. The thread that reads the query log provides the
 * queries, and a separate thread evaluates each of them twice: with the active policy and with the draft. Nothing is
 * stored or published.
 */
import { lineReason } from '../../../shared/policy/reasons/line-reasons.ts';
import { periodMs } from '../../../shared/api/fields.ts';
import type { SimulateBody, Simulation } from '../../../shared/api/policy/simulate-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { SimulatedChanges } from '../../../shared/threads/simulation-messages.ts';
import { invalid, overloaded } from '../../api/api-error.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { DraftedLists, DraftLists } from '../../lists/sources/draft-lists.ts';
import type { BlockingSettings } from '../../policy/change/blocking-settings.ts';
import type { LivePolicy } from '../../policy/change/runtime-state.ts';
import type { FindService } from '../../policy/change/policy-memory.ts';
import type { PolicyMacClient } from '../../policy/change/rows.ts';
import type { QuestionsRequest, ReadQuestions } from '../../query-log/logged-questions/read-questions.ts';
import { spanOf } from '../../query-log/reading/period-start.ts';
import { findCustom } from '../../filtering/services/service-store.ts';
import type { BuiltSnapshot } from '../../policy/snapshot/build/snapshot-builder.ts';
import type { SnapshotPublisher } from '../../policy/snapshot/publish/publisher.ts';
import { applyDraft, draftedAddresses } from './draft-rows.ts';
import { inWords } from './simulation-words.ts';
import { SimulationWorker } from './simulation-worker.ts';

/** Dependencies of the simulator. */
export interface SimulatorParts {
  readonly publisher: Pick<SnapshotPublisher, 'draft'>;
  readonly blocking: () => BlockingSettings;
  readonly lists: Pick<DraftLists, 'make'>;
  readonly database: Queryable;
  /** Services of the catalog. */
  readonly findService: FindService;
  readonly clients: {
    /** Returns the current addresses of clients with these MACs. */
    addressesOf(macClients: readonly PolicyMacClient[]): LivePolicy['clientAddresses'];
    nameAt(address: string, clientId: number | null): string | null;
  };
  readonly log: {
    distinctQuestions(request: QuestionsRequest, signal: AbortSignal): Promise<ReadQuestions>;
  };
  readonly clock: Clock;
}

/** Seconds after which a rejected draft may be sent again. */
const RETRY_SECS = 5;

/** Simulates one draft at a time. */
export class Simulator {
  private readonly parts: SimulatorParts;
  private isAtWork = false;

  constructor(parts: SimulatorParts) {
    this.parts = parts;
  }

  /**
   * The changes that the draft would cause; cancelled when `gone` is aborted. @throws {ApiError} 400 if the draft
   * refers to missing objects, 503 while another simulation is running
   */
  async simulate(draft: SimulateBody, gone: AbortSignal): Promise<Simulation> {
    if (this.isAtWork) throw overloaded('another draft is being simulated; try again later', RETRY_SECS);
    this.isAtWork = true;
    try {
      return await this.run(draft, gone);
    } finally {
      this.isAtWork = false;
    }
  }

  private async run(draft: SimulateBody, gone: AbortSignal): Promise<Simulation> {
    const { clock, log, clients } = this.parts;
    const startedMs = clock.monotonicMs();
    const span = spanOf(clock.nowMs(), periodMs(draft.period)!);
    const lists = await this.parts.lists.make(draft.lists, gone);
    const findService = await this.servicesOf(draft);
    const before = lists.base;
    const after = this.build(draft, lists, findService);
    const worker = new SimulationWorker({ before: before.snapshot, after: after.snapshot }, gone);
    try {
      const withAddresses = await worker.opened();
      const read = await log.distinctQuestions({ ...span, withAddresses }, gone);
      const { questions } = read;
      const changes = await worker.simulate({ questions, limit: draft.limit });
      return {
        from: new Date(span.fromMs).toISOString(),
        to: new Date(span.toMs).toISOString(),
        snapshot_id: before.snapshot.version,
        ...aboutLog(read, changes),
        ...inWords(changes, {
          before,
          after,
          questions,
          hostnameOf: (ip, clientId) => clients.nameAt(ip, clientId),
        }),
        lists: lists.added.map(({ name, rules, invalidLines }) => ({
          name,
          rules,
          invalid_lines: invalidLines,
        })),
        elapsed_ms: Math.round(clock.monotonicMs() - startedMs),
      };
    } finally {
      await worker.end();
    }
  }

  /** Finds the services that the draft blocks; custom services are only in the database. */
  private async servicesOf({ services }: SimulateBody): Promise<FindService> {
    const { findService, database } = this.parts;
    const custom = new Map<string, ReturnType<FindService>>();
    for (const { service_id: id } of services.block) {
      if (findService(id) !== undefined || custom.has(id)) continue;
      const found = await findCustom(database, id);
      custom.set(id, found && { serviceName: found.name, domains: found.domains, exact: [] });
    }
    return (id) => findService(id) ?? custom.get(id);
  }

  private build(draft: SimulateBody, lists: DraftedLists, findService: FindService): BuiltSnapshot {
    const { publisher, blocking, clients } = this.parts;
    const { base, sources, compiled } = lists;
    const { rows, faults } = applyDraft(base.rows, draft, { sources, findService });
    if (faults.length > 0) throw invalid(faults);
    const addressesOf = (): LivePolicy['clientAddresses'] =>
      draftedAddresses(draft, rows, (macClients) => clients.addressesOf(macClients));
    const built = publisher.draft({
      compiled,
      rows,
      blocking: blocking(),
      ...(draft.clients.length === 0 ? {} : { clientAddresses: addressesOf }),
    });
    const refused = built.manual.refused.filter(({ id }) => id < 0);
    if (refused.length === 0) return built;
    throw invalid(
      refused.map(({ id, reason }) => ({
        path: `regex_filters.add.${-1 - id}.pattern`,
        message: lineReason('with_existing', { reason }),
      })),
    );
  }
}

function aboutLog(
  { evaluated, notEvaluated, leftOut, oldestMs, damagedBlocks, questions }: ReadQuestions,
  { undecided, unknownAnswers }: SimulatedChanges,
): Pick<Simulation, 'oldest' | 'queries' | 'is_complete' | 'damaged_blocks'> {
  return {
    oldest: oldestMs === null ? null : new Date(oldestMs).toISOString(),
    queries: {
      judged: evaluated,
      not_judged: notEvaluated,
      undecided,
      answer_unknown: unknownAnswers,
      left_out: leftOut,
      distinct: questions.count,
    },
    is_complete: leftOut === 0 && damagedBlocks === 0,
    damaged_blocks: damagedBlocks,
  };
}
