/** A service that is blocked for one of two groups while clients of both ask as fast as they can. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const KIDS = '127.0.0.2';
const ADULTS = '127.0.0.3';
const TURNS = 20;
const ASKED_AT_ONCE = 8;
const NAME = 'www.netflix.com';

let upstream: ScriptedUpstream;
let weir: Weir;
let api: ApiClient;
const clients = new Map<string, UdpClient>();
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  weir = await Weir.start({ upstreams: [`127.0.0.1:${String(upstream.port)}`] });
  api = await weir.api();
  for (const from of [KIDS, ADULTS]) clients.set(from, await UdpClient.open(weir.dnsPort, '127.0.0.1', from));
});
afterAll(async () => {
  for (const client of clients.values()) client.close();
  await upstream.close();
  expect(await weir.stop()).toMatchObject({ code: 0 });
});

/** Whether the name is blocked for the client; anything but the two answers that are possible fails. */
async function isBlocked(from: string): Promise<boolean> {
  const { rcode, data } = await clients.get(from)!.ask(NAME, 'A');
  if (rcode === Rcode.NXDOMAIN) return true;
  expect(data).toEqual([EVERY_ADDRESS]);
  return false;
}

test('weir blocks a service from the first answer after the response, for its group alone', async () => {
  const { id: kids } = await api.createGroup('kids');
  const { id: adults } = await api.createGroup('adults');
  await api.expect(201, 'POST', '/clients', { ip_address: KIDS, group_id: kids });
  await api.expect(201, 'POST', '/clients', { ip_address: ADULTS, group_id: adults });
  let isOver = false;
  const adultsAnswers = { blocked: 0, all: 0 };
  let kidsAnswers = 0;
  const askOn = async (from: string, note: (blocked: boolean) => void): Promise<void> => {
    while (!isOver) note(await isBlocked(from));
  };
  const asking = Array.from({ length: ASKED_AT_ONCE }, () => [
    askOn(ADULTS, (blocked) => {
      adultsAnswers.all++;
      if (blocked) adultsAnswers.blocked++;
    }),
    askOn(KIDS, () => {
      kidsAnswers++;
    }),
  ]).flat();
  const first: boolean[] = [];
  try {
    for (let turn = 0; turn < TURNS; turn++) {
      await api.expect(201, 'POST', '/services', { service_id: 'netflix', group_id: kids });
      first.push(await isBlocked(KIDS));
      await api.expect(204, 'DELETE', `/services/netflix/groups/${String(kids)}`);
      first.push(await isBlocked(KIDS));
    }
  } finally {
    isOver = true;
  }
  await Promise.all(asking);
  expect(first).toEqual(Array.from({ length: TURNS }, () => [true, false]).flat());
  expect(adultsAnswers.blocked).toBe(0);
  expect(Math.min(adultsAnswers.all, kidsAnswers)).toBeGreaterThan(TURNS);
});
