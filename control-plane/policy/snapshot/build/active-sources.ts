/** Compiled sources that are active for at least one group, for listing and counting rules. */
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import type { PolicyRows, PolicySource } from '../../change/rows.ts';

/** Sources by their index in a rule table. */
export class ActiveSources {
  private readonly rows: readonly (PolicySource | undefined)[];

  constructor({ sources }: Pick<CompiledRules, 'sources'>, rows: Pick<PolicyRows, 'sources'>) {
    const enabled = new Map(rows.sources.filter((row) => row.enabled).map((row) => [row.id, row]));
    this.rows = sources.map(({ id, statistics }) =>
      statistics.fault === null ? enabled.get(id) : undefined,
    );
  }

  /** Whether every compiled source is enabled and could be read. */
  get areAll(): boolean {
    return this.rows.every((row) => row !== undefined);
  }

  /** The name of a source; null if it is not active. */
  nameOf(source: number): string | null {
    return this.rows[source]?.name ?? null;
  }

  /**
   * Whether rules of `source` that source `by` disables are inactive for all groups, because `by` is active for every
   * group for which `source` is active.
   */
  disablesForAll(by: number, source: number): boolean {
    const byIds = this.rows[by]?.groupIds;
    const ids = this.rows[source]?.groupIds;
    if (byIds === undefined || ids === undefined) return false;
    return byIds.length === 0 || (ids.length > 0 && ids.every((id) => byIds.includes(id)));
  }
}
