/** Upgrades with fewer privileges: as an ordinary user, and without the system calls. */
import { readFileSync, statSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { overTcp, overUdp, PatientLoad } from '../../support/weir/patient-load.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import { ordinaryUser, Weir } from '../../support/weir/weir-process.ts';
import type { WeirOptions } from '../../support/weir/weir-process.ts';

const WITHOUT_KOFFI = new URL('../../support/weir/without-koffi.ts', import.meta.url);

let upstream: ScriptedUpstream;
let weir: Weir;

beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterEach(async () => {
  await endProcess(processOf(weir), 'SIGTERM');
  await weir.stop();
});
afterAll(() => upstream.close());

/** Upgrades a Weir server under load; every client is served before and after, and all queries are answered. */
async function upgraded(options: WeirOptions): Promise<void> {
  weir = await Weir.start({
    database: 'none',
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    ...options,
  });
  const before = processOf(weir);
  const loads = [overUdp(weir.dnsPort), overTcp(weir.dnsPort)].map((open) => new PatientLoad(open, 'lesser'));
  await Promise.all(loads.map((load) => load.untilMore(30)));
  expect(await runUpgrade(weir)).toMatchObject({ code: 0 });
  await Promise.all(loads.map((load) => load.untilMore(30)));
  await Promise.all(loads.map((load) => load.stop()));
  expect(loads.flatMap(({ lost }) => lost)).toEqual([]);
  expect(processOf(weir)).not.toBe(before);
}

test('weir upgrade run by an ordinary user replaces the process', async () => {
  const user = ordinaryUser();
  await upgraded(user === undefined ? {} : { user });
  const owner = statSync(weir.tempDir.dataDir).uid;
  expect(readFileSync(`/proc/${String(processOf(weir))}/status`, 'utf8')).toMatch(
    new RegExp(`^Uid:\\t${String(owner)}\\t`, 'm'),
  );
  expect(owner).not.toBe(0);
});

test('weir upgrade opens additional sockets if koffi does not load, and warns that queries may be lost', async () => {
  await upgraded({ env: { NODE_OPTIONS: `--import ${WITHOUT_KOFFI.href}` } });
  expect(weir.output).toMatch(/using node:dgram.*koffi.*cannot be loaded/);
  expect(weir.output).toMatch(/could not pass the sockets.*koffi.*cannot be loaded/);
  using client = await UdpClient.open(weir.dnsPort);
  expect((await client.ask('after.example.com', 'A')).data).toEqual([EVERY_ADDRESS]);
});
