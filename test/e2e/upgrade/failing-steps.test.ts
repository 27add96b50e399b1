/**
 * Upgrades to a release whose start fails, with a failure at each step: the running process keeps answering, and the
 * command reports the reason.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { START_STEPS } from '../../../control-plane/node/upgrade/start-steps.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { FAULT_REASON, FaultyRelease } from '../../support/weir/faulty-release.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { overDoh, overDot, overTcp, overUdp, PatientLoad } from '../../support/weir/patient-load.ts';
import { acceptsHandover, runUpgrade } from '../../support/weir/upgrades.ts';
import type { UpgradeRun } from '../../support/weir/upgrades.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** Number of queries that each client must have answered before and after each upgrade. */
const SERVED = 10;
/** When the new process reaches this step, the old process has ended, so the old release must be started again. */
const LAST_STEP = 'listen for commands';

const tempDir = makeTempDir();
const ports = { dot: 0, doh: 0 };
let upstream: ScriptedUpstream;
let release: FaultyRelease;
let sound: FaultyRelease;
let weir: Weir;

beforeAll(async () => {
  await prepareDataDir(tempDir.dataDir);
  release = new FaultyRelease(join(tempDir.path, 'release'));
  sound = new FaultyRelease(join(tempDir.path, 'sound'));
  upstream = await startEchoingUpstream();
  ports.dot = await freePort(['127.0.0.1']);
  ports.doh = await freePort(['127.0.0.1']);
  weir = await Weir.start({
    tempDir,
    upstreams: [`127.0.0.1:${String(upstream.port)}`],
    toml: encryptedToml(ports),
  });
});

afterAll(async () => {
  await endProcess(processOf(weir), 'SIGTERM');
  await weir.stop();
  await upstream.close();
  tempDir.remove();
});

/**
 * Upgrades under load; every client is served before and after, and all queries are answered, with one exception: a
 * process that is killed while it serves loses the datagrams that it has read. Each client loses at most one, because
 * it sends one query at a time.
 */
async function upgradeInVain(mark: string, folder = release.folder, datagramsLost = 0): Promise<UpgradeRun> {
  const loads = [overUdp(weir.dnsPort), overTcp(weir.dnsPort), overDot(ports.dot), overDoh(ports.doh)].map(
    (open, i) => new PatientLoad(open, `${mark}-${String(i)}`),
  );
  await Promise.all(loads.map((load) => load.untilMore(SERVED)));
  const run = await runUpgrade(weir, undefined, folder);
  await Promise.all(loads.map((load) => load.untilMore(SERVED)));
  await Promise.all(loads.map((load) => load.stop()));
  expect(loads.flatMap(({ lost }) => lost)).toEqual([]);
  expect(loads.flatMap(({ rcodes }) => rcodes).filter((rcode) => rcode !== Rcode.NOERROR)).toEqual([]);
  expect(loads[0]!.retried.slice(datagramsLost)).toEqual([]);
  expect(run.code).toBe(1);
  return run;
}

/** Waits until the running process is fully started. */
async function untilComplete(): Promise<void> {
  await until(
    'a process that could be upgraded, with its database',
    async () => {
      const answer = await weir.health().catch(() => null);
      return { database: answer?.body.checks.database.status, acceptsHandover: await acceptsHandover(weir) };
    },
    (seen) => seen.database === 'ok' && seen.acceptsHandover,
  );
}

/** Changes the configuration during `work`. */
async function withConfiguration(change: (toml: string) => string, work: () => Promise<void>): Promise<void> {
  const file = join(tempDir.path, 'weir.toml');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, change(before));
  try {
    await work();
  } finally {
    writeFileSync(file, before);
  }
}

describe('weir upgrade to a release that fails', () => {
  test.each(START_STEPS.filter((step) => step !== LAST_STEP))(
    'keeps the running process if the new process cannot %s',
    async (step) => {
      const before = processOf(weir);
      release.failAt(step, 'throws');
      const { output } = await upgradeInVain(`throws-${String(START_STEPS.indexOf(step))}`);
      expect(output).toContain(`the running server continues: could not ${step}: ${FAULT_REASON}`);
      expect(processOf(weir)).toBe(before);
      // The API and the database are still running.
      expect((await weir.health()).body.checks.database.status).toBe('ok');
    },
  );

  test.each(['throws', 'is killed'] as const)(
    'continues with the previous release if the new process %s once it has the data directory',
    async (fault) => {
      release.failAt(LAST_STEP, fault);
      const { output } = await upgradeInVain(
        `last-${fault.replace(' ', '-')}`,
        release.folder,
        fault === 'is killed' ? 1 : 0,
      );
      const reason = fault === 'throws' ? `could not ${LAST_STEP}: ${FAULT_REASON}` : 'terminated by SIGKILL';
      expect(output).toMatch(new RegExp(`the running server continues: .*${reason}`));
      await untilComplete();
    },
  );
});

describe('weir upgrade to a faulty configuration or release', () => {
  test.each([
    ['web_port', 'start the web server', 'could not listen for HTTP on 127.0.0.1'],
    ['dot_port', 'start the DNS threads', 'could not listen for DNS on 127.0.0.1 port'],
  ])('keeps the running process if the new %s is in use', async (key, step, reason) => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const before = processOf(weir);
    const usePort = (toml: string): string =>
      toml.replace(new RegExp(`^${key} = \\d+$`, 'm'), `${key} = ${port}`);
    await withConfiguration(usePort, async () => {
      const { output } = await upgradeInVain(`taken-${key.replace('_', '-')}`, sound.folder);
      expect(output).toContain(`could not ${step}: ${reason}`);
    });
    expect(processOf(weir)).toBe(before);
    holder.close();
  });

  test('starts no new process if the configuration is invalid', async () => {
    const before = processOf(weir);
    await withConfiguration(
      (toml) => toml.replace(/^web_port = .*$/m, 'web_port = "none"'),
      async () => {
        expect((await upgradeInVain('faulty')).output).toContain('web_port');
      },
    );
    expect(processOf(weir)).toBe(before);
  });

  test('keeps the running process if a file of the release is damaged', async () => {
    const before = processOf(weir);
    const damaged = new FaultyRelease(join(tempDir.path, 'damaged'));
    damaged.damage('control-plane/node/start-web.ts');
    const { output } = await upgradeInVain('damaged', damaged.folder);
    expect(output).toContain('could not load the code');
    expect(processOf(weir)).toBe(before);
  });
});
