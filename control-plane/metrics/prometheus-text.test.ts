import { describe, expect, test } from '@jest/globals';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { family, single } from './family.ts';
import { PrometheusText } from './prometheus-text.ts';

describe('PrometheusText.text()', () => {
  test('reports counters and gauges with help, type and labels', async () => {
    const text = await new PrometheusText([
      family('counter', 'weir_things_total', 'Things', ['kind'], () => [
        { labels: { kind: 'a' }, value: 3 },
        { labels: { kind: 'b' }, value: 0 },
      ]),
      single('gauge', 'weir_size_bytes', 'Size', () => 1.5),
    ]).text();
    expect(text).toBe(
      '# HELP weir_things_total Things\n# TYPE weir_things_total counter\n' +
        'weir_things_total{kind="a"} 3\nweir_things_total{kind="b"} 0\n\n' +
        '# HELP weir_size_bytes Size\n# TYPE weir_size_bytes gauge\nweir_size_bytes 1.5\n',
    );
  });

  test('reads all values at each scrape, and omits values that no longer exist', async () => {
    let values: Record<string, number> = { a: 5, b: 1 };
    const read = () => Object.entries(values).map(([kind, value]) => ({ labels: { kind }, value }));
    const shown = new PrometheusText([
      family('counter', 'weir_c_total', 'C', ['kind'], read),
      family('gauge', 'weir_g', 'G', ['kind'], async () => read()),
    ]);
    await shown.text();
    values = { a: 7 };
    const { samples } = new ScrapedMetrics(await shown.text());
    expect(samples).toEqual([
      { name: 'weir_c_total', labels: { kind: 'a' }, value: 7 },
      { name: 'weir_g', labels: { kind: 'a' }, value: 7 },
    ]);
  });

  test('omits unknown values', async () => {
    const metrics = new ScrapedMetrics(
      await new PrometheusText([single('gauge', 'weir_g', 'G', async () => null)]).text(),
    );
    expect([...metrics.types.keys()]).toEqual(['weir_g']);
    expect(metrics.samples).toEqual([]);
  });

  test('escapes label values', async () => {
    const list = 'a"b\\c\nweir_fake 1\n\\n"} 9';
    const text = await new PrometheusText([
      family('gauge', 'weir_g', 'G', ['list'], () => [{ labels: { list }, value: 1 }]),
    ]).text();
    expect(text).toContain(`{list="a\\"b\\\\c\\nweir_fake 1\\n\\\\n\\"} 9"} 1\n`);
    expect(new ScrapedMetrics(text).samples).toEqual([{ name: 'weir_g', labels: { list }, value: 1 }]);
  });

  test('reports cumulative buckets of a histogram', async () => {
    const text = await new PrometheusText([
      {
        type: 'histogram',
        name: 'weir_h_seconds',
        help: 'H',
        bounds: [0.5, 1],
        read: () => [{ labels: { thread: 'x' }, counts: [2, 0, 3], sum: 4.25 }],
      },
    ]).text();
    expect(text.split('\n').slice(1)).toEqual([
      '# TYPE weir_h_seconds histogram',
      'weir_h_seconds_bucket{thread="x",le="0.5"} 2',
      'weir_h_seconds_bucket{thread="x",le="1"} 2',
      'weir_h_seconds_bucket{thread="x",le="+Inf"} 5',
      'weir_h_seconds_sum{thread="x"} 4.25',
      'weir_h_seconds_count{thread="x"} 5',
      '',
    ]);
  });
});
