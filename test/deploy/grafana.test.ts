/**
 * The dashboard of deploy/grafana and the alerts of deploy/prometheus: a scrape of a real Weir server has every metric,
 * label and value that they use. prometheus-files.test.ts tests when alerts fire.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { a, idOf, questionOf, response } from '../support/dns/built-messages.ts';
import { UdpClient } from '../support/dns/dns-client.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { encryptedToml } from '../support/weir/encrypted-toml.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { startListServer } from '../support/weir/list-server.ts';
import type { ListServer } from '../support/weir/list-server.ts';
import type { ScrapedMetrics } from '../support/weir/scraped-metrics.ts';
import { until } from '../support/parts/until.ts';
import { Weir } from '../support/weir/weir-process.ts';

interface Panel {
  readonly id: number;
  readonly panels?: readonly Panel[];
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
}

const read = (file: string): string => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
const dashboard = JSON.parse(read('grafana/weir-prometheus.json')) as Dashboard;
const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const targets = panels.flatMap((panel) => panel.targets ?? []);

const alerts = (
  parse(read('prometheus/weir-alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

/** Labels that Prometheus adds to each sample. */
const OF_THE_SCRAPE = ['instance', 'job'];
const METRIC = /\b((?:weir|process)_\w+)(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

/** Metrics, labels and values in an expression, and labels in its legend, that are missing in the scrape. */
function unknownIn(expr: string, legend: string, scraped: ScrapedMetrics): string[] {
  const known = new Set<string>(OF_THE_SCRAPE);
  const unknown: string[] = [];
  for (const [, name = '', matchers = ''] of expr.replaceAll(GROUPING, '').matchAll(METRIC)) {
    const samples = scraped.find(name);
    if (samples.length === 0) unknown.push(name);
    for (const label of Object.keys(samples[0]?.labels ?? {})) known.add(label);
    for (const [, label = '', operator, value = ''] of matchers.matchAll(MATCHER)) {
      if (!known.has(label)) unknown.push(`${name} ${label}`);
      if (operator === '=' && scraped.find(name, { [label]: value }).length === 0)
        unknown.push(`${name} ${label}="${value}"`);
    }
  }
  const grouped = [...expr.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.split(','));
  const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  for (const label of [...grouped.map((word) => word.trim()), ...shown])
    if (!known.has(label)) unknown.push(label);
  return unknown.map((word) => `${word} in ${expr}`);
}

describe('weir-prometheus.json and weir-alerts.yml', () => {
  let upstream: ScriptedUpstream;
  let lists: ListServer;
  let weir: Weir;
  let scraped: ScrapedMetrics;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.udpScript = (query) => {
      const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1', 3600)];
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
    };
    lists = await startListServer();
    lists.serve('/list', '0.0.0.0 ads.example.com\n');
    // Weir gets a certificate, because some metrics exist only with a certificate.
    const ports = { dot: await freePort(['127.0.0.1']), doh: await freePort(['127.0.0.1']) };
    const certificate = 'tls_cert_path = "certificate.pem"\ntls_key_path = "key.pem"\n';
    const toml = `${encryptedToml(ports)}[server.web_tls]\n${certificate}`;
    weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`], toml });
    const api = await weir.api();
    await api.addSource({ name: 'ads', url: lists.url('/list') });
    const udp = await UdpClient.open(weir.dnsPort);
    await udp.ask('www.example.org', 'A');
    udp.close();
    // Resolve threads report their upstreams once a second.
    scraped = await until(
      'the latency of an upstream in the metrics',
      () => api.metrics(),
      (metrics) => metrics.sum('weir_upstream_latency_seconds_count') > 0,
      { pauseMs: 100 },
    );
  });

  afterAll(async () => {
    await weir.stop();
    await lists.close();
    await upstream.close();
  });

  test('weir-prometheus.json uses only metrics and labels that Weir exports', () => {
    expect(targets.length).toBeGreaterThan(40);
    const unknown = targets.flatMap(({ expr, legendFormat }) => unknownIn(expr, legendFormat, scraped));
    expect(unknown).toEqual([]);
  });

  test('weir-alerts.yml uses only metrics and labels that Weir exports', () => {
    const ofPrometheus = ['up{job="weir"} == 0'];
    const exprs = alerts.map(({ expr }) => expr).filter((expr) => !ofPrometheus.includes(expr));
    expect(exprs).toHaveLength(alerts.length - 1);
    expect(exprs.flatMap((expr) => unknownIn(expr, '', scraped))).toEqual([]);
  });

  test('weir-prometheus.json finds its nodes by a metric that Weir exports', () => {
    const queries = dashboard.templating.list.map(({ query }) =>
      /^label_values\((\w+), (\w+)\)$/.exec(query),
    );
    const found = queries.filter((match) => match !== null);
    expect(found.map(([, metric, label]) => [scraped.find(metric!).length, label])).toEqual([
      [1, 'instance'],
    ]);
  });

  test('weir-prometheus.json shows every metric that Weir exports', () => {
    const asked = targets.map(({ expr }) => expr).join('\n');
    const missing = [...scraped.types.keys()].filter((name) => !asked.includes(name));
    expect(missing).toEqual([]);
  });

  test('weir-prometheus.json gives its panels unique IDs', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

test('the Grafana provisioning reads the folder to which the guide copies the dashboard', () => {
  const [, folder = 'none'] =
    /^\s*path: (\S+)$/m.exec(read('grafana/provisioning/dashboards/weir.yaml')) ?? [];
  expect(read('../docs/monitoring.md')).toContain(
    `install -D -m 644 -t ${folder} deploy/grafana/weir-prometheus.json`,
  );
});
