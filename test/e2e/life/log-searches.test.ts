/** Searches of the query log do not delay DNS answers, and each search finishes. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { QueryLogPage } from '../../../shared/api/query-log-api.ts';
import { type Question, UdpClient } from '../../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { Load } from '../../support/weir/query-load.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const LOGGED = 8000;
const PEOPLE = 10;
const ROUNDS = 3;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

/** Names of the threads of the process. */
function threadsOf(pid: number): string[] {
  const folder = `/proc/${String(pid)}/task`;
  return readdirSync(folder).map((id) => readFileSync(`${folder}/${id}/comm`, 'utf8').trim());
}

describe('weir whose query log is searched', () => {
  test('answers every query and ten concurrent log searches, which run in a separate thread', async () => {
    await using weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    const api = await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    await udp.askAll(
      Array.from({ length: LOGGED }, (_, i): Question => ({
        name: `host-${String(i % 500)}.example.com`,
        type: 'A',
      })),
    );
    await api.untilQueryCount(LOGGED, 'domain=host-');
    const load = await Load.start(weir.dnsPort, 'during');
    const searches = Array.from({ length: PEOPLE }, async (_, person) => {
      for (let round = 0; round < ROUNDS; round++) {
        const path = `/queries?domain=host-${String(person)}&type=A`;
        const page = await api.expect<QueryLogPage>(200, 'GET', path);
        expect(page.total).toBeGreaterThan(0);
        expect(page.data.every(({ domain }) => domain.includes(`host-${String(person)}`))).toBe(true);
      }
    });
    await Promise.all(searches);
    expect(threadsOf(weir.child.pid!)).toContain('scans');
    await load.untilMore(100);
    await load.stop();
    expect(load.lost).toEqual([]);
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
