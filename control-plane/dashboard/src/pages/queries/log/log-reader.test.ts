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
  };
}

const ROWS = 1_000;

/** A log of a thousand rows, a clock and timers in the hand of the test. */
class Bench {
  readonly asked: PagePlace[] = [];
  readonly timers: (() => void)[] = [];
  fault: Error | null = null;
  nowMs = 0;
  readonly reader = new LogReader({
    read: async (place) => {
      this.asked.push(place);
      if (this.fault !== null) throw this.fault;
      return this.page(Number(place.cursor ?? ROWS));
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
    const counts = { total: ROWS, total_queries: ROWS, limit: 100, offset: 0, damaged_blocks: 0 };
    return { data, next_cursor: next, prev_cursor: null, ...counts };
  }

  take(...ids: number[]): void {
    this.reader.take({ rows: ids.map(row), skipped: 0, nodes: 'all' });
  }

  draw(): void {
    for (const run of this.timers.splice(0)) run();
  }

  get newest(): number | null | undefined {
    return this.reader.view().rows.at(0)?.row.id;
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('LogReader', () => {
  test('reads on before the end is reached, each page once', async () => {
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

  test('asks for no page twice where watchers look at once, as components do', async () => {
    const { reader, asked } = new Bench();
    reader.watch(() => reader.see(0, 30));
    await reader.reload();
    for (let turn = 0; turn < 6; turn += 1) await settled();
    expect(asked.map(({ cursor }) => cursor)).toEqual([null, '900', '800', '700']);
  });

  test('draws what came together once', async () => {
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

  test('lets new rows wait while it is paused', async () => {
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

  test('starts over with the newest where more waited than it keeps', async () => {
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

  test('says what failed, asks for no more, and tries again', async () => {
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

  test('brings rows back that were forgotten', async () => {
    const bench = new Bench();
    await bench.reader.reload();
    for (let last = 100; last < ROWS; last += 100) {
      bench.reader.see(last - 30, last);
      await settled();
    }
    expect(bench.reader.view().rows.at(0)).toBeNull();
    bench.reader.see(0, 30);
    await settled();
    expect(bench.newest).toBe(1_000);
  });
});
