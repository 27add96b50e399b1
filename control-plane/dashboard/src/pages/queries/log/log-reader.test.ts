import { describe, expect, test } from '@jest/globals';
import { LogReader } from './log-reader.ts';
import type { LogPage, LogRow, PagePlace } from './log-rows.ts';

function row(id: number): LogRow {
  return {
    id,
    timestamp: new Date(id).toISOString(),
    node: 'home',
    client: '192.0.2.1',
    client_hostname: null,
    group_id: 1,
    domain: 'example.org',
    type: 'A',
    protocol: 'udp',
    status: 'ALLOWED',
    block_source: null,
    block_rule: null,
    rcode: 'NOERROR',
    response_time_us: 100,
    cached: false,
    upstream: null,
    dnssec_status: 'unchecked',
    answers: null,
    repeats: 0,
    client_id: null,
    block_alias: null,
    answer_type: null,
    extended_error: null,
    decision_origin: null,
  };
}

const ROWS = 1_000;

/** A log of a thousand rows, with a clock and timers that the test controls. */
class Bench {
  readonly asked: PagePlace[] = [];
  readonly timers: (() => void)[] = [];
  fault: Error | null = null;
  nowMs = 0;
  /** Rows of the log. */
  rows = ROWS;
  /** Requested pages arrive only after this promise has resolved. */
  gate: Promise<unknown> = Promise.resolve();
  readonly reader = new LogReader({
    read: async (place) => {
      this.asked.push(place);
      if (this.fault !== null) throw this.fault;
      const page = this.page(Number(place.cursor ?? this.rows));
      await this.gate;
      return page;
    },
    later: (run) => {
      this.timers.push(run);
      return () => void this.timers.splice(this.timers.indexOf(run), 1);
    },
    nowMs: () => this.nowMs,
  });

  page(from: number): LogPage {
    const data = Array.from({ length: 100 }, (_, step) => row(from - step)) as LogPage['data'];
    const next = from > 100 ? String(from - 100) : null;
    const counts = { total: this.rows, total_queries: this.rows, limit: 100, offset: 0, damaged_blocks: 0 };
    return { data, next_cursor: next, prev_cursor: null, ...counts };
  }

  take(...ids: number[]): void {
    this.reader.take({ rows: ids.map(row), skipped: 0, nodes: 'all' });
  }

  draw(): void {
    for (const run of this.timers.splice(0)) run();
  }

  /** Stores new rows and sends them to the tail. */
  grow(count: number): void {
    const ids = Array.from({ length: count }, () => ++this.rows);
    this.take(...ids);
  }

  /** The ids of the shown rows. */
  get shown(): (number | null | undefined)[] {
    const { rows, count } = this.reader.view();
    return Array.from({ length: count }, (_, index) => rows.at(index)?.row.id);
  }

  get newest(): number | null | undefined {
    return this.reader.view().rows.at(0)?.row.id;
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('LogReader, which loads pages of the query log,', () => {
  test('reads each next page once, before the end is reached', async () => {
    const { reader, asked } = new Bench();
    await reader.reload();
    for (let turn = 0; turn < 6; turn += 1) {
      reader.see(0, 30);
      reader.see(1, 31);
      await settled();
    }
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, '900', '800', '700']);
    expect(reader.view().count).toBe(400);
  });

  test('requests each page once, even if several listeners call it at the same time', async () => {
    const { reader, asked } = new Bench();
    reader.watch(() => reader.see(0, 30));
    await reader.reload();
    for (let turn = 0; turn < 6; turn += 1) await settled();
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, '900', '800', '700']);
  });

  test('renders rows that arrive together in one update', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    let drawn = 0;
    bench.reader.watch(() => (drawn += 1));
    bench.take(1_001);
    bench.take(1_002, 1_003);
    expect(bench.timers).toHaveLength(1);
    bench.draw();
    expect(drawn).toBe(1);
    expect(bench.newest).toBe(1_003);
    expect(bench.reader.view().totals).toEqual({ rows: 1_003, queries: 1_003 });
  });

  test('queues new rows while it is paused', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.reader.pause(true);
    bench.take(1_001, 1_002);
    bench.draw();
    expect(bench.newest).toBe(1_000);
    expect(bench.reader.view().waiting).toBe(2);
    bench.reader.pause(false);
    bench.draw();
    expect(bench.newest).toBe(1_002);
    expect(bench.reader.view().waiting).toBe(0);
  });

  test('restarts with the newest rows if more rows were queued than the reader keeps', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.reader.pause(true);
    for (let id = 1_001; id <= 4_000; id += 100) bench.take(...Array.from({ length: 100 }, (_, n) => id + n));
    expect(bench.reader.view().waiting).toBe(3_000);
    bench.reader.showWaiting();
    expect(bench.newest).toBe(4_000);
    expect(bench.reader.view().count).toBe(1_000);
    expect(bench.reader.view().rows.next?.before).not.toBeNull();
  });

  test('reports a failure, sends no more requests, and continues after a retry', async () => {
    const bench = new Bench();
    bench.fault = new Error('away');
    await bench.reader.reload();
    expect(bench.reader.view().failure?.message).toBe('away');
    bench.reader.see(0, 10);
    expect(bench.asked).toHaveLength(1);
    bench.fault = null;
    bench.reader.retry();
    await settled();
    expect(bench.reader.view().failure).toBeNull();
    expect(bench.reader.view().count).toBe(100);
  });

  test('loads evicted rows again', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    for (let last = 100; last < ROWS; last += 100) {
      bench.reader.see(last - 30, last);
      await settled();
    }
    expect(bench.reader.view().rows.at(100)).toBeNull();
    bench.reader.see(90, 120);
    await settled();
    expect(bench.reader.view().rows.at(100)?.row.id).toBe(900);
  });
});

/** Descending numbers from `newest`. */
function down(newest: number, count: number): number[] {
  return Array.from({ length: count }, (_, step) => newest - step);
}

describe('LogReader with an event stream of new rows', () => {
  test('shows each row that arrived while the first page was loading once', async () => {
    const bench = new Bench();
    const gate = Promise.withResolvers<undefined>();
    bench.gate = gate.promise;
    const reloaded = bench.reader.reload();
    bench.take(999, 1_000);
    bench.grow(3);
    gate.resolve(undefined);
    await reloaded;
    bench.draw();
    expect(bench.shown).toEqual(down(1_003, 103));
    expect(bench.reader.view().totals).toEqual({ rows: 1_003, queries: 1_003 });
    expect(bench.reader.view().waiting).toBe(0);
  });

  test('counts a row once if it arrives both in the page and in the stream', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.take(999, 1_000);
    bench.draw();
    expect(bench.shown).toEqual(down(1_000, 100));
    expect(bench.reader.view().totals).toEqual({ rows: 1_000, queries: 1_000 });
  });

  test('requests the page again if the stream starts after the request', async () => {
    const bench = new Bench();
    const gate = Promise.withResolvers<undefined>();
    bench.gate = gate.promise;
    const reloaded = bench.reader.reload();
    // The tail does not report these rows.
    bench.rows += 5;
    void bench.reader.catchUp();
    bench.grow(2);
    gate.resolve(undefined);
    await reloaded;
    bench.draw();
    expect(bench.asked).toHaveLength(2);
    expect(bench.shown).toEqual(down(1_007, 107));
    expect(bench.reader.view().totals).toEqual({ rows: 1_007, queries: 1_007 });
  });

  test('adds rows that arrived while no stream was open, in the right order', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.grow(1);
    bench.draw();
    bench.rows += 40;
    const gate = Promise.withResolvers<undefined>();
    bench.gate = gate.promise;
    const caughtUp = bench.reader.catchUp();
    bench.grow(4);
    bench.draw();
    expect(bench.newest).toBe(1_001);
    gate.resolve(undefined);
    await caughtUp;
    bench.draw();
    expect(bench.shown).toEqual(down(1_045, 145));
    expect(bench.reader.view().totals).toEqual({ rows: 1_045, queries: 1_045 });
  });

  test('queues missed rows while it is paused', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.reader.pause(true);
    bench.grow(10);
    bench.rows += 30;
    await bench.reader.catchUp();
    bench.grow(2);
    bench.draw();
    expect([bench.newest, bench.reader.view().waiting]).toEqual([1_000, 42]);
    bench.reader.pause(false);
    bench.draw();
    expect(bench.shown).toEqual(down(1_042, 142));
  });

  test('restarts with the newest rows if it missed more rows than a page contains', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.reader.pause(true);
    bench.grow(10);
    bench.rows += 500;
    await bench.reader.catchUp();
    bench.grow(1);
    bench.draw();
    expect([bench.newest, bench.reader.view().waiting]).toEqual([1_000, 511]);
    bench.reader.showWaiting();
    expect(bench.shown).toEqual(down(1_511, 101));
    expect(bench.reader.view().rows.next?.before).toBe(new Date(1_412).toISOString());
    expect(bench.reader.view().totals).toEqual({ rows: 1_511, queries: 1_511 });
  });

  test('shows rows from the stream if the page fails, and loads the other rows on retry', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    bench.fault = new Error('away');
    bench.rows += 5;
    const caughtUp = bench.reader.catchUp();
    bench.grow(1);
    await caughtUp;
    bench.draw();
    expect([bench.newest, bench.reader.view().failure?.message]).toEqual([1_006, 'away']);
    bench.fault = null;
    bench.reader.retry();
    await settled();
    bench.draw();
    expect(bench.reader.view().failure).toBeNull();
    expect(bench.shown.toSorted()).toEqual(down(1_006, 106).toSorted());
    expect(bench.reader.view().totals).toEqual({ rows: 1_006, queries: 1_006 });
  });

  test('requests the page itself if a stream starts before any page was loaded', async () => {
    const bench = new Bench();
    bench.fault = new Error('away');
    await bench.reader.reload();
    bench.fault = null;
    await bench.reader.catchUp();
    expect(bench.shown).toEqual(down(1_000, 100));
  });

  test('keeps a limited number of new rows while a page is loading', async () => {
    const bench = new Bench();
    const gate = Promise.withResolvers<undefined>();
    bench.gate = gate.promise;
    const reloaded = bench.reader.reload();
    for (let turn = 0; turn < 50; turn += 1) bench.grow(100);
    gate.resolve(undefined);
    await reloaded;
    bench.draw();
    expect(bench.shown).toEqual(down(6_000, 1_000));
    const { skipped, totals } = bench.reader.view();
    expect([skipped, totals?.rows]).toEqual([3_000, 6_000]);
  });

  test('adds a row without an ID if the page is older than the row', async () => {
    const bench = new Bench();
    const gate = Promise.withResolvers<undefined>();
    bench.gate = gate.promise;
    const reloaded = bench.reader.reload();
    const rows = [1_000, 1_001].map((id) => ({ ...row(id), id: null }));
    bench.reader.take({ rows, skipped: 0, nodes: 'all' });
    gate.resolve(undefined);
    await reloaded;
    bench.draw();
    expect(bench.shown.slice(0, 2)).toEqual([null, 1_000]);
    expect(bench.reader.view().totals?.rows).toBe(1_001);
  });
});
