/** New rows of an import, of which one statement writes many. Knows no table. */

/** Rows that one statement writes at most. */
const MOST_ROWS = 1000;

interface Collected<Row, Stored> {
  readonly row: Row;
  readonly written: (stored: Stored) => void;
}

/** Collects rows by a natural key. */
export class CollectedRows<Row, Stored> {
  private readonly write: (rows: readonly Row[]) => Promise<readonly Stored[]>;
  private readonly collected = new Map<string, Collected<Row, Stored>>();

  /** `write` stores rows and returns them in the same order. */
  constructor(write: (rows: readonly Row[]) => Promise<readonly Stored[]>) {
    this.write = write;
  }

  /** Has a row with this key written now, if one is collected: for one that comes again. */
  async settle(key: string): Promise<void> {
    if (this.collected.has(key)) await this.flush();
  }

  /** Collects a row whose key is not collected; `written` is called with it once it is stored. */
  async add(key: string, row: Row, written: (stored: Stored) => void): Promise<void> {
    this.collected.set(key, { row, written });
    if (this.collected.size === MOST_ROWS) await this.flush();
  }

  /** Writes what is collected. */
  async flush(): Promise<void> {
    const rows = [...this.collected.values()];
    this.collected.clear();
    if (rows.length === 0) return;
    const stored = await this.write(rows.map(({ row }) => row));
    for (const [index, { written }] of rows.entries()) written(stored[index]!);
  }
}
