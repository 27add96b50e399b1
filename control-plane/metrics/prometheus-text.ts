/** Writes the families in the text format of Prometheus. Only this file imports prom-client. */
import { Counter, Gauge, type Metric, Registry } from 'prom-client';
import type { Family, HistogramFamily, HistogramSample } from './family.ts';

/** Families that can be scraped. */
export class PrometheusText {
  private readonly registry = new Registry();

  constructor(families: readonly (Family | HistogramFamily)[]) {
    for (const family of families)
      if (family.type === 'histogram') this.registry.registerMetric(histogramOf(family));
      else register(this.registry, family);
  }

  /** Media type of the text. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Reads all families. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}

function register(registry: Registry, { type, name, help, labels, read }: Family): void {
  const shown = { name, help, labelNames: labels, registers: [registry] };
  if (type === 'gauge') {
    const gauge: Gauge = new Gauge({
      ...shown,
      collect: async () => {
        const samples = await read();
        clear(gauge, labels);
        for (const sample of samples) gauge.set(sample.labels, sample.value);
      },
    });
    return;
  }
  const counter: Counter = new Counter({
    ...shown,
    collect: async () => {
      const samples = await read();
      clear(counter, labels);
      for (const sample of samples) counter.inc(sample.labels, sample.value);
    },
  });
}

/** Removes all samples; without labels, a reset alone would leave a 0. */
function clear(metric: Counter | Gauge, labels: readonly string[]): void {
  metric.reset();
  if (labels.length === 0) metric.remove();
}

/**
 * A histogram with given counts, which the histograms of the package do not support, because they only count their own
 * observations.
 */
function histogramOf({ name, help, type, bounds, read }: HistogramFamily): Metric {
  const get = () => ({ name, help, type, values: read().flatMap((sample) => linesOf(name, bounds, sample)) });
  return { name, get } as unknown as Metric;
}

function linesOf(name: string, bounds: readonly number[], { labels, counts, sum }: HistogramSample) {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = index < bounds.length ? String(bounds[index]!) : '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
