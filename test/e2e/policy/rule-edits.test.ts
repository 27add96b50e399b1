/**
 * Hundreds of rule edits over a big list: each edit is active when its response arrives, and memory does not grow.
 * WEIR_TEST_EDITS is the number of edits per measurement (default 200).
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { INSPECTED, liveHeapBytes } from '../../support/weir/live-heap.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const NAMES = 20_000;
/** Number of edits after which pools, caches and histories are full, and number of measured edits. */
const WARM_UP = 100;
const EDITS = Number(process.env['WEIR_TEST_EDITS'] ?? 200);
/**
 * A leak shows in each round, but one-time loads and caches show only once. So the measurement ends after the first
 * round without growth.
 */
const MAX_ROUNDS = 8;
/** Memory that an edit may leak in the control plane: a retained snapshot takes 1.4 KB without its buffers. */
const LEAK_BYTES_PER_EDIT = 1000;
/** Limit for the whole process including DNS threads: allows uncollected garbage, but no snapshots. */
const GROWTH_KIB_PER_EDIT = 512;

let lists: ListServer;
let weir: Weir;
let udp: UdpClient;
let api: ApiClient;
beforeAll(async () => {
  lists = await startListServer();
  weir = await Weir.start({ toml: '[dns]\nquery_timeout_ms = 100\n', env: INSPECTED });
  udp = await UdpClient.open(weir.dnsPort);
  api = await weir.api();
});
afterAll(async () => {
  udp.close();
  await lists.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
});

function residentKib(): number {
  const status = readFileSync(`/proc/${String(weir.pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]);
}

/** Adds a rule and deletes it again. For some rules, also checks the DNS answer while the rule exists. */
async function edit(index: number): Promise<void> {
  const domain = `n${String(index)}.edited.example`;
  const rule = await api.expect<{ id: number }>(201, 'POST', '/managed-domains', { domain });
  if (index % 50 === 0) expect((await udp.ask(domain, 'A')).data).toEqual(['0.0.0.0']);
  await api.expect(204, 'DELETE', `/managed-domains/${String(rule.id)}`);
}

test('weir accepts hundreds of rule edits without growing memory', async () => {
  const text = Array.from({ length: NAMES }, (_, index) => `n${String(index)}.listed.example\n`).join('');
  lists.serve('/list', text);
  await api.addSource({ name: 'big', url: lists.url('/list') });
  for (let index = 0; index < WARM_UP; index += 2) await edit(index);
  const residentBefore = residentKib();
  const growths: number[] = [];
  const isFlat = (): boolean => Math.min(...growths) < EDITS * LEAK_BYTES_PER_EDIT;
  for (let live = await liveHeapBytes(weir); growths.length < MAX_ROUNDS && !isFlat();) {
    for (let index = 0; index < EDITS; index += 2) await edit(index);
    const liveNow = await liveHeapBytes(weir);
    growths.push(liveNow - live);
    live = liveNow;
  }
  expect(residentKib() - residentBefore).toBeLessThan(growths.length * EDITS * GROWTH_KIB_PER_EDIT);
  expect({ growths, isFlat: isFlat() }).toMatchObject({ isFlat: true });
  expect((await udp.ask('n7.listed.example', 'A')).data).toEqual(['0.0.0.0']);
}, 240_000);
