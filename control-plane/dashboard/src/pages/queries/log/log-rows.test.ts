import { describe, expect, test } from '@jest/globals';
import { LogRows, MAX_FRESH } from './log-rows.ts';
import type { LogPage, LogRow } from './log-rows.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');

function row(id: number | null, atMs = id ?? 0): LogRow {
  return {
    id,
    timestamp: new Date(START_MS + atMs).toISOString(),
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

/** A page whose rows have descending ids. */
function page(from: number, to: number, next: string | null = `after ${to}`): LogPage {
  const ids = Array.from({ length: from - to + 1 }, (_, step) => from - step);
  return {
    data: ids.map((id) => row(id)) as LogPage['data'],
    total: from,
    total_queries: from,
    limit: ids.length,
    offset: 0,
    next_cursor: next,
    prev_cursor: null,
    damaged_blocks: 0,
  };
}

function shown(rows: LogRows): (number | null | undefined)[] {
  return Array.from({ length: rows.count }, (_, index) => rows.at(index)?.row.id);
}

describe('LogRows, the rows of the query log,', () => {
  test('contains the rows of its pages in order', () => {
    const rows = new LogRows();
    rows.append(rows.next!, page(6, 4));
    expect(rows.next).toEqual({ cursor: 'after 4', before: null });
    rows.append(rows.next!, page(3, 1, null));
    expect(shown(rows)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(rows.next).toBeNull();
  });

  test('adds each new row once before the pages', () => {
    const rows = new LogRows();
    rows.append(rows.next!, page(3, 1, null));
    rows.prepend([row(3), row(4), row(5)]);
    rows.prepend([row(5), row(6)]);
    expect(shown(rows)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test('gives rows without an ID different keys', () => {
    const rows = new LogRows();
    rows.prepend([row(null), row(null)]);
    expect(rows.count).toBe(2);
    expect(rows.at(0)?.key).not.toBe(rows.at(1)?.key);
  });

  test('keeps a limited number of new rows, and requests pages after the oldest of these rows', () => {
    const rows = new LogRows();
    rows.append(rows.next!, page(3, 1, null));
    rows.prepend(Array.from({ length: MAX_FRESH + 10 }, (_, step) => row(step + 4)));
    expect(rows.count).toBe(MAX_FRESH);
    const oldest = rows.at(MAX_FRESH - 1)?.row;
    expect(rows.next).toEqual({ cursor: null, before: new Date(START_MS + oldest!.id! + 1).toISOString() });
    rows.append(rows.next!, page(oldest!.id!, oldest!.id! - 2));
    expect(rows.at(MAX_FRESH)?.row.id).toBe(oldest!.id! - 1);
  });

  test('restarts with the kept rows when too many new rows have arrived', () => {
    const rows = new LogRows();
    rows.append(rows.next!, page(3, 1, null));
    rows.restart([row(100), row(101)]);
    expect(shown(rows)).toEqual([101, 100]);
    expect(rows.next?.before).toBe(new Date(START_MS + 101).toISOString());
  });

  test('evicts rows far from the visible rows, and loads evicted rows again', () => {
    const rows = new LogRows();
    for (let last = 1_000; last > 0; last -= 10) rows.append(rows.next!, page(last, last - 9));
    rows.keepAround(500, 520);
    expect(rows.count).toBe(1_000);
    // Thirteen pages around the visible rows, and the newest page.
    expect(rows.keptCount).toBe(140);
    expect(rows.at(500)?.row.id).toBe(500);
    expect(rows.at(5)?.row.id).toBe(995);
    const lost = rows.lostAt(15);
    expect(rows.at(15)).toBeNull();
    rows.refill(lost!, page(990, 981));
    expect(rows.at(15)?.row.id).toBe(985);
    expect(rows.lostAt(15)).toBeNull();
  });
});
