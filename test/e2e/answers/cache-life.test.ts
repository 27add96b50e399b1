/** Cached answers: they are refreshed while clients query them, served stale, cleared, and kept over a restart. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CacheEntryPage, CacheMetrics, CacheStats } from '../../../shared/api/cache-api.ts';
import { a, idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ReceivedQuery } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const STALE_ERROR = 3;
/** A `query_timeout_ms` that is longer than the time-out of any client in the test. */
const TOML = '[dns]\nquery_timeout_ms = 30000\n[cache]\npersist = true\n';
const EDNS = { edns: { udpSize: 1232 } };

/** TTLs of names with these first labels; all other names have an hour. */
const TTLS: Readonly<Record<string, number>> = { used: 6, stale: 1 };

function firstLabel({ bytes }: ReceivedQuery): string {
  const { qname } = questionOf(bytes);
  return Buffer.from(qname.subarray(1, 1 + qname[0]!))
    .toString('latin1')
    .toLowerCase();
}

describe('the answer cache', () => {
  let upstream: ScriptedUpstream;
  let tempDir: TempDir;
  let weir: Weir;
  let udp: UdpClient;
  let api: ApiClient;
  let isSilent = false;

  const start = async (): Promise<void> => {
    weir = await Weir.start({ tempDir, toml: TOML, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    udp = await UdpClient.open(weir.dnsPort);
    api = await weir.api();
  };
  const askedFor = (label: string): number =>
    upstream.udpQuestions.filter((query) => firstLabel(query) === label).length;

  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    upstream.udpScript = (query) => {
      if (isSilent) return;
      const ttl = TTLS[firstLabel(query)] ?? 3600;
      const answers =
        questionOf(query.bytes).qtype === 1 ? [a(Uint8Array.of(0xc0, 12), '192.0.2.1', ttl)] : [];
      query.reply(response(questionOf(query.bytes), { id: idOf(query.bytes), answers }));
    };
    tempDir = makeTempDir();
    await start();
  });

  afterAll(async () => {
    udp.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
    await upstream.close();
    tempDir.remove();
  });

  test('refreshes the answer for a frequently queried name once before it expires', async () => {
    for (let i = 0; i < 2; i++) await udp.ask('used.example.com', 'A');
    await until(
      'a second question to the upstream about a name in use',
      async () => {
        expect((await udp.ask('used.example.com', 'A')).data).toEqual(['192.0.2.1']);
        return askedFor('used');
      },
      (count) => count >= 2,
      { pauseMs: 100 },
    );
    expect((await udp.ask('used.example.com', 'A')).data).toEqual(['192.0.2.1']);
    expect(askedFor('used')).toBe(2);
    const metrics = await api.expect<CacheMetrics>(200, 'GET', '/cache/metrics');
    expect(metrics.optimistic_refreshes).toBe(1);
    expect(metrics.hits).toBeGreaterThan(1);
  });

  test('serves a stale answer while the upstream does not respond, then caches the late answer', async () => {
    await udp.ask('stale.example.com', 'A');
    isSilent = true;
    const ask = (): Promise<Reply> => udp.ask('stale.example.com', 'A', EDNS);
    const hasError = ({ extendedErrors }: Reply): boolean => extendedErrors.length > 0;
    const reply = await until('a stale answer', ask, hasError);
    expect(reply.extendedErrors).toEqual([STALE_ERROR]);
    expect(reply.message.answers).toMatchObject([{ ttl: 30, data: '192.0.2.1' }]);
    isSilent = false;
    for (const held of upstream.udpQueries.filter((query) => firstLabel(query) === 'stale').slice(-1))
      upstream.udpScript(held, 0);
    await until('an answer that is not stale', ask, (answer) => !hasError(answer));
    expect((await api.expect<CacheMetrics>(200, 'GET', '/cache/metrics')).stale_hits).toBeGreaterThan(0);
  });

  test('lists cached answers page by page, and clears cached answers for every worker', async () => {
    for (const name of ['one.drop.example.com', 'two.drop.example.com', 'drop.example.com'])
      await udp.ask(name, 'A');
    const path = '/cache/entries?domain=*.drop.example.com';
    const page = await api.expect<CacheEntryPage>(200, 'GET', `${path}&limit=2`);
    expect(page).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(page.data).toHaveLength(2);
    expect(page.data[0]).toMatchObject({
      type: 'A',
      rcode: 'NOERROR',
      answers: 1,
      dnssec_status: 'unchecked',
    });
    await api.expect(204, 'DELETE', '/cache/entries?domain=one.drop.example.com&type=AAAA');
    expect((await api.expect<CacheEntryPage>(200, 'GET', path)).total).toBe(3);
    await api.expect(204, 'DELETE', '/cache/entries?domain=*.drop.example.com&type=A');
    expect((await api.expect<CacheEntryPage>(200, 'GET', path)).total).toBe(0);
    const before = askedFor('one');
    await udp.ask('one.drop.example.com', 'A');
    expect(askedFor('one')).toBe(before + 1);
    await api.expect(400, 'GET', '/cache/entries?type=NONSENSE');
  });

  test('keeps its answers across a restart', async () => {
    await udp.ask('kept.example.com', 'A');
    await api.untilQueryCount(1);
    const stats = await api.expect<CacheStats>(200, 'GET', '/cache/stats?period=1h');
    expect(stats.total_entries).toBeGreaterThan(0);
    udp.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
    await start();
    expect((await udp.ask('kept.example.com', 'A')).data).toEqual(['192.0.2.1']);
    expect(askedFor('kept')).toBe(1);
  });
});
