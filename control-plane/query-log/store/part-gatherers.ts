/**
 * Gathers queries that are only logged, and queries that are only counted in statistics, separately from all others.
 * Each kind is a separate run in addition to the main run, so that readers can skip whole blocks. No memory is used
 * until the first such query arrives.
 */
import { randomUUID } from 'node:crypto';
import { Exclusion } from '../../../shared/query-log.ts';
import { type RunPart, UsedBy } from '../block/log-block.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { BlockGatherer, type SealedBlock } from './block-gatherer.ts';
import type { NetworkPrefixes } from './limited-networks.ts';
import type { QueryLogPrivacy } from './privacy.ts';

/** The open blocks of both kinds. */
export class PartGatherers {
  private readonly prefixes: (() => NetworkPrefixes) | undefined;
  /** UUID of the main run. */
  private readonly runKey: string;
  private readonly gatherers = new Map<RunPart['usedBy'], BlockGatherer>();

  constructor(prefixes: (() => NetworkPrefixes) | undefined, runKey: string) {
    this.prefixes = prefixes;
    this.runKey = runKey;
  }

  /** Number of rows in the open blocks; `queryCount` is the number of queries that these rows represent. */
  get rowCount(): number {
    return this.all().reduce((sum, { rowCount }) => sum + rowCount, 0);
  }
  get queryCount(): number {
    return this.all().reduce((sum, { queryCount }) => sum + queryCount, 0);
  }

  /**
   * Adds a query that is only logged or only counted. If the query does not fit into the open block, returns this
   * block, which is now complete, and starts another one.
   */
  append(row: QueryLogRow, privacy: Exclude<QueryLogPrivacy, 'off'>): SealedBlock | null {
    const usedBy = row.exclusion === Exclusion.LOG ? UsedBy.STATS : UsedBy.LOG;
    let gatherer = this.gatherers.get(usedBy);
    if (gatherer === undefined) {
      gatherer = new BlockGatherer(this.prefixes, randomUUID(), { usedBy, of: this.runKey });
      this.gatherers.set(usedBy, gatherer);
    }
    return gatherer.append(row, privacy);
  }

  /** Completes the open blocks. */
  seal(): SealedBlock[] {
    return this.all().flatMap((gatherer) => gatherer.seal() ?? []);
  }

  private all(): BlockGatherer[] {
    return [...this.gatherers.values()];
  }
}
