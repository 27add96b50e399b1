/** Metrics of a real Weir server: queries are counted exactly. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { a, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { httpCall } from '../../support/weir/http-call.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import type { ScrapedMetrics } from '../../support/weir/scraped-metrics.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

/** Number of queries of `askAll`. */
const ASKED = 28;
const LIST = 'a "quoted\\n" list';

describe.each(BACK_ENDS)('the Prometheus metrics, back end %s', (backEnd) => {
  let upstream: ScriptedUpstream;
  let lists: ListServer;
  let weir: Weir;
  let api: ApiClient;
  let before: ScrapedMetrics;
  let after: ScrapedMetrics;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.udpScript = (query) => {
      const answers = [a(Uint8Array.of(0xc0, 12), '192.0.2.1', 3600)];
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
    };
    lists = await startListServer();
    lists.serve('/list', '0.0.0.0 ads.example.com\n0.0.0.0 track.example.com\n!!no rule\n');
    const servers = [`127.0.0.1:${String(upstream.port)}`];
    weir = await Weir.start({ backEnd, upstreams: servers, toml: '[dns.health_check]\nenabled = false\n' });
    api = await weir.api();
    await api.addSource({ name: LIST, url: lists.url('/list') });
    before = await api.metrics();
    await askAll(weir.dnsPort);
    // A thread counts an answer after it has sent the answer, so the counter may lag.
    await until(
      `${String(ASKED)} queries to be counted`,
      async () => {
        after = await api.metrics();
        return grown('weir_dns_response_seconds_count');
      },
      (count) => count >= ASKED,
      { pauseMs: 50 },
    );
  });

  afterAll(async () => {
    await weir.stop();
    await lists.close();
    await upstream.close();
  });

  /** Increase of a counter. */
  const grown = (name: string, labels: Record<string, string> = {}): number =>
    after.sum(name, labels) - before.sum(name, labels);

  test('count each query once, by protocol and status', () => {
    const queries = (protocol: string, status: string): number =>
      grown('weir_dns_queries_total', { protocol, status });
    expect(queries('udp', 'BLOCKED_LIST')).toBe(7);
    expect(queries('udp', 'ALLOWED')).toBe(5);
    expect(queries('udp', 'CACHED')).toBe(11);
    expect(queries('tcp', 'BLOCKED_LIST')).toBe(3);
    expect(queries('tcp', 'CACHED')).toBe(2);
    expect(grown('weir_dns_queries_total')).toBe(ASKED);
    // Includes the five queries that were forwarded over UDP.
    expect(grown('weir_dns_queries_total', { thread: 'answer' })).toBe(backEnd === 'batch' ? 23 : 0);
  });

  test('count the response time of each query', () => {
    expect(grown('weir_dns_response_seconds_count')).toBe(ASKED);
    expect(grown('weir_dns_response_seconds_bucket', { le: '+Inf' })).toBe(ASKED);
    expect(grown('weir_dns_response_seconds_sum')).toBeGreaterThan(0);
  });

  test('count each query once by response code, type, DNSSEC status and source', () => {
    expect(grown('weir_dns_responses_total', { rcode: 'NOERROR' })).toBe(ASKED);
    expect(grown('weir_dns_responses_total')).toBe(ASKED);
    expect(grown('weir_dns_questions_total', { type: 'A' })).toBe(ASKED);
    expect(grown('weir_dns_validations_total', { status: 'unchecked' })).toBe(ASKED);
    expect(grown('weir_dns_rate_limited_total')).toBe(0);
    const answers = ['cache', 'upstream', 'local'].map((source) =>
      grown('weir_dns_response_seconds_count', { source }),
    );
    expect(answers).toEqual([13, 5, 10]);
  });

  test('count cache hits and misses, and the queries to the upstream', () => {
    expect(grown('weir_cache_hits_total')).toBe(13);
    expect(grown('weir_cache_insertions_total')).toBe(5);
    expect(after.sum('weir_cache_entries')).toBe(5);
    expect(upstream.udpQuestions.length).toBe(5);
    expect(after.find('weir_upstream_queries_total').map(({ labels }) => labels['pool'])).toEqual([
      'upstreams',
    ]);
  });

  test('label the blocks of a list with its name, even with special characters', () => {
    expect(after.sum('weir_list_rules', { list: LIST, kind: 'block' })).toBe(2);
    expect(after.sum('weir_list_status', { list: LIST, status: 'ok' })).toBe(1);
    expect(after.sum('weir_list_last_success_timestamp_seconds', { list: LIST })).toBeGreaterThan(1e9);
  });

  test('show the version and uptime of the node', () => {
    expect(after.sum('weir_database_up')).toBe(1);
    expect(after.sum('weir_clock_wrong')).toBe(0);
    expect(after.sum('weir_data_dir_free_bytes')).toBeGreaterThan(1e6);
    expect(after.sum('weir_data_dir_size_bytes')).toBeGreaterThan(after.sum('weir_data_dir_free_bytes'));
    expect(after.sum('weir_query_log_spool_max_bytes')).toBe(2 ** 31);
    expect(after.sum('weir_cluster_versions')).toBe(1);
    for (const name of ['database_refuses_connections', 'database_old_primaries', 'config_reload_failed'])
      expect([name, after.sum(`weir_${name}`)]).toEqual([name, 0]);
    expect(Math.abs(after.sum('weir_clock_offset_seconds'))).toBeLessThan(1);
    expect(after.sum('weir_workers_answering')).toBe(after.sum('weir_workers'));
    expect(after.sum('weir_snapshot_version')).toBeGreaterThan(1);
    expect(after.sum('weir_policy_revision')).toBeGreaterThan(0);
    const threads = backEnd === 'batch' ? ['answer', 'main', 'resolve'] : ['main', 'resolve'];
    for (const thread of threads)
      expect(after.sum('weir_thread_cpu_seconds_total', { thread })).toBeGreaterThan(0);
  });

  test('are rejected without authentication', async () => {
    const url = `http://127.0.0.1:${String(weir.webPort)}/metrics`;
    const { status, text } = await httpCall('GET', url);
    expect(status).toBe(401);
    expect(text).not.toContain('weir_dns');
  });
});

/**
 * Sends queries one after another. Over UDP, 7 are blocked, 5 forwarded and 11 cached; over TCP, 3 are blocked and 2
 * cached.
 */
async function askAll(port: number): Promise<void> {
  const udp = await UdpClient.open(port);
  for (let i = 0; i < 7; i++) await udp.ask(i % 2 === 0 ? 'ads.example.com' : 'track.example.com', 'A');
  for (let i = 0; i < 16; i++) await udp.ask(`name-${String(i % 5)}.example.org`, 'A');
  udp.close();
  for (let i = 0; i < 3; i++) await askOverTcp(port, 'ads.example.com', 'A');
  for (let i = 0; i < 2; i++) await askOverTcp(port, 'name-1.example.org', 'A');
}
