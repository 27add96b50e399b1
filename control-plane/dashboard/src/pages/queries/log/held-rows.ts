/** Rows that arrive on the live tail while the newest page is loading. The page may also contain some of these rows. */
import { MAX_FRESH } from './log-rows.ts';
import type { LogPage, LogRow } from './log-rows.ts';
import type { TailEvent } from './tail.ts';

/** Maximum number of held rows; newer rows replace the oldest. */
const MAX_HELD = 2 * MAX_FRESH;

/** Holds events until a page has arrived. */
export class HeldRows {
  private rows: LogRow[] = [];
  private skipped = 0;
  private nodes: TailEvent['nodes'] | null = null;

  take({ rows, skipped, nodes }: TailEvent): void {
    this.rows.push(...rows);
    const surplus = Math.max(0, this.rows.length - MAX_HELD);
    this.rows.splice(0, surplus);
    this.skipped += skipped + surplus;
    this.nodes = nodes;
  }

  /** Returns the held rows as one event, without rows that are also on the page; null if no rows are left. */
  release(page: LogPage | null): TailEvent | null {
    const { nodes, skipped } = this;
    if (nodes === null) return null;
    const oldest = page === null || page.next_cursor === null ? '' : (page.data.at(-1)?.timestamp ?? '');
    const newest = page?.data[0]?.timestamp ?? '';
    // A row without an id cannot be identified on the page.
    const rows = this.rows.filter(
      ({ id, timestamp }) => timestamp > newest || (id !== null && timestamp >= oldest),
    );
    return { rows, skipped, nodes };
  }
}
