import { expect, test } from '@jest/globals';
import { ConnectionLimit } from '../../dns-worker/streams/connection-limit.ts';
import { createConnectionTable } from '../../shared/memory/connection-table.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { ProtocolCode } from '../../shared/query-log.ts';
import { ScrapedMetrics } from '../../test/support/weir/scraped-metrics.ts';
import { createWorkerMemory } from '../threads/worker-memory.ts';
import { PrometheusText } from './prometheus-text.ts';
import { streamFamilies } from './stream-families.ts';
import { threadCounters } from './thread-counters.ts';

const ONE = addressFromText('192.0.2.1')!;
const OTHER = addressFromText('2001:db8::1')!;

test('streamFamilies() reports open connections by worker and protocol, and handshakes', async () => {
  const table = createConnectionTable(2, 7);
  const limitOf = (worker: number, protocol: ProtocolCode): ConnectionLimit =>
    new ConnectionLimit({ table, worker, protocol, maxPerAddress: 0, max: 9 });
  const [tcp, dot] = [limitOf(0, Protocol.tcp), limitOf(1, Protocol.dot)];
  for (const address of [ONE, ONE, OTHER]) tcp.enter(address);
  tcp.leave(ONE);
  dot.enter(ONE);
  const memories = [createWorkerMemory(), createWorkerMemory()];
  new Float64Array(memories[1]!.resolveCounters)[Counter.TLS_HANDSHAKES] = 5;
  const metrics = new PrometheusText(streamFamilies(threadCounters(memories), table));
  const { samples } = new ScrapedMetrics(await metrics.text());
  expect(samples.filter(({ value }) => value !== 0)).toEqual([
    { name: 'weir_dns_connections', labels: { worker: '0', protocol: 'tcp' }, value: 2 },
    { name: 'weir_dns_connections', labels: { worker: '1', protocol: 'dot' }, value: 1 },
    { name: 'weir_dns_tls_handshakes_total', labels: { worker: '1' }, value: 5 },
  ]);
  expect(samples).toHaveLength(2 * 3 + 2);
});
