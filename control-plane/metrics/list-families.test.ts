import { expect, test } from '@jest/globals';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import type { PublishedState } from '../policy/snapshot/published-state.ts';
import { type FetchedList, listFamilies } from './list-families.ts';
import { PrometheusText } from './prometheus-text.ts';

const HOSTILE = 'a"b\\c\nweir_fake 1';
const LABELS = { id: '1', kind: 'block', list: HOSTILE };

/** A state with these lists, the last one disabled and one not compiled yet. */
const state = {
  compiled: {
    sources: [
      { id: 1, statistics: { rules: 70, invalidLines: 3 } },
      { id: 3, statistics: { rules: 10, invalidLines: 0 } },
    ],
  },
  rows: {
    sources: [
      { id: 1, name: HOSTILE, kind: 'block', enabled: true },
      { id: 2, name: 'new', kind: 'allow', enabled: true },
      { id: 3, name: 'off', kind: 'block', enabled: false },
    ],
  },
} as unknown as PublishedState;

function fetched(status: FetchedList['status'], checked: string | null, changed: string | null): FetchedList {
  return { id: 1, kind: 'block', name: HOSTILE, status, last_checked_at: checked, last_changed_at: changed };
}

test('listFamilies() reports the active rules of enabled lists', async () => {
  const families = listFamilies({ published: () => state, fetched: async () => null });
  const { samples } = new ScrapedMetrics(await new PrometheusText(families).text());
  expect(samples).toEqual([
    { name: 'weir_list_rules', labels: LABELS, value: 70 },
    { name: 'weir_list_invalid_lines', labels: LABELS, value: 3 },
  ]);
});

test('listFamilies() reports the status of lists, and the time of the last success even after errors', async () => {
  let list = fetched('pending', null, null);
  const metrics = new PrometheusText(listFamilies({ published: () => state, fetched: async () => [list] }));
  const scrape = async () => new ScrapedMetrics(await metrics.text());
  const successes: (number | undefined)[] = [];
  const check = async (next: FetchedList): Promise<void> => {
    list = next;
    const scraped = await scrape();
    successes.push(scraped.find('weir_list_last_success_timestamp_seconds', LABELS)[0]?.value);
    expect(scraped.sum('weir_list_status', { ...LABELS, status: next.status })).toBe(1);
    expect(scraped.sum('weir_list_status', LABELS)).toBe(1);
  };
  const at = (second: number): string => new Date(second * 1000).toISOString();
  await check(list);
  await check(fetched('error', at(100), at(50)));
  await check(fetched('ok', at(200), at(50)));
  await check(fetched('error', at(300), at(50)));
  expect(successes).toEqual([undefined, 50, 200, 200]);
});
