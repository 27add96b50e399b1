/** A running Weir server that is replaced by another process: every query is answered. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { encryptedToml } from '../../support/weir/encrypted-toml.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { overDoh, overDot, overTcp, overUdp, PatientLoad } from '../../support/weir/patient-load.ts';
import { Load } from '../../support/weir/query-load.ts';
import { endProcess, isRunning, processOf } from '../../support/weir/holder.ts';
import { acceptsHandover, nicenessOf, runUpgrade, untilSuccessor } from '../../support/weir/upgrades.ts';
import type { UpgradeRun } from '../../support/weir/upgrades.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** The output line of the command after which the new process is killed. */
const UNDONE_STEPS = [
  ['as it starts', / starts$/],
  ['when it is loaded', / is loaded$/],
  ['when it answers', /^the new process answers/],
] as const;
/** Log line after which a killed process is replaced by another process of the old release. */
const LEFT = /in flight are answered$/;
const POLL_MS = 50;
/**
 * Shorter than the pause of the other clients, because each query is a connection, which a faulty handover would reset.
 */
const TCP_PAUSE_MS = 10;

let upstream: ScriptedUpstream;
let weir: Weir;
const tempDir = makeTempDir();
const ports = { dot: 0, doh: 0 };

const start = (): Promise<Weir> =>
  Weir.start({ tempDir, upstreams: [`127.0.0.1:${String(upstream.port)}`], toml: encryptedToml(ports) });

beforeAll(async () => {
  await prepareDataDir(tempDir.dataDir);
  upstream = await startEchoingUpstream();
  ports.dot = await freePort(['127.0.0.1']);
  ports.doh = await freePort(['127.0.0.1']);
  weir = await start();
});

afterAll(async () => {
  await endProcess(processOf(weir), 'SIGTERM');
  await weir.stop();
  await upstream.close();
  tempDir.remove();
});

/** Waits until the running process has its database and can be replaced. */
async function untilReplaceable(): Promise<void> {
  await until(
    'the database to be up, and a process that could be replaced',
    async () => {
      const answer = await weir.health().catch(() => null);
      return { database: answer?.body.checks.database.status, acceptsHandover: await acceptsHandover(weir) };
    },
    (seen) => seen.database === 'ok' && seen.acceptsHandover,
    { pauseMs: POLL_MS },
  );
}

const untilEnded = (pid: number): Promise<boolean> =>
  until(`process ${String(pid)} to end`, () => !isRunning(pid));

/** Clients of all protocols, each with one query at a time. */
function patientLoads(mark: string): Record<'udp' | 'tcp' | 'dot' | 'doh', PatientLoad> {
  return {
    udp: new PatientLoad(overUdp(weir.dnsPort), `patient-${mark}`),
    tcp: new PatientLoad(overTcp(weir.dnsPort), `tcp-${mark}`, TCP_PAUSE_MS),
    dot: new PatientLoad(overDot(ports.dot), `dot-${mark}`),
    doh: new PatientLoad(overDoh(ports.doh), `doh-${mark}`),
  };
}

/** Runs `work` under load, and checks that every client is served before and after `work`. */
async function during(
  loads: readonly { untilMore(count: number): Promise<void>; stop(): Promise<void> }[],
  work: () => Promise<void>,
): Promise<void> {
  const goOn = (): Promise<unknown> => Promise.all(loads.map((load) => load.untilMore(20)));
  await goOn();
  await work();
  await goOn();
  await Promise.all(loads.map((load) => load.stop()));
}

const faulty = (rcodes: readonly number[]): number =>
  rcodes.filter((rcode) => rcode !== Rcode.NOERROR).length;

/**
 * These tests run first, because each ends the most recently started process, which must still be the first process of
 * its server.
 */
describe('weir stopped during an upgrade', () => {
  test.each([
    ['while both answer', /^the new process answers/],
    ['when the old one has left', LEFT],
  ])('(%s) stops both processes, and stores the answers of both', async (_when, step) => {
    const mark = `stopped-${String(weir.pid)}`;
    const load = await Load.start(weir.dnsPort, mark);
    let successor = 0;
    await runUpgrade(weir, (line, pid) => {
      if (!step.test(line)) return;
      successor = pid;
      weir.child.kill('SIGTERM');
    });
    expect(await weir.end()).toMatchObject({ code: 0 });
    expect(isRunning(successor)).toBe(false);
    load.abandon();
    weir = await start();
    const answered = load.replies.length;
    expect(await (await weir.api()).untilQueryCount(answered, `domain=.${mark}.`)).toBeGreaterThanOrEqual(
      answered,
    );
  });
});

describe('weir upgrade', () => {
  /** Results of two concurrent upgrades in the first test. */
  let outcomes: readonly UpgradeRun[] = [];
  let firstNiceness: number;
  beforeAll(() => {
    firstNiceness = nicenessOf(weir.pid);
  });

  test('loses no query over UDP, TCP, TLS and HTTPS, and no row of the log', async () => {
    const before = processOf(weir);
    const udp = await Load.start(weir.dnsPort, 'upgraded');
    const others = patientLoads('upgraded');
    await during([udp, ...Object.values(others)], async () => {
      outcomes = await Promise.all([runUpgrade(weir), runUpgrade(weir)]);
    });
    expect(outcomes.map(({ code }) => code)).toContain(0);
    expect(processOf(weir)).not.toBe(before);
    // The command receives its result before the old process ends, so this waits for the end.
    await untilEnded(before);
    expect(udp.lost).toEqual([]);
    expect(faulty(udp.replies.map(({ rcode }) => rcode))).toBe(0);
    for (const [protocol, { lost, rcodes }] of Object.entries(others))
      expect({ protocol, lost, faulty: faulty(rcodes) }).toEqual({ protocol, lost: [], faulty: 0 });
    // Neither datagrams nor accepted connections need a second attempt.
    expect([others.udp.retried, others.tcp.retried]).toEqual([[], []]);
    await untilReplaceable();
    const api = await weir.api();
    const answered = udp.replies.length;
    expect(await api.untilQueryCount(answered, 'domain=.upgraded.')).toBeGreaterThanOrEqual(answered);
  });

  test('refuses to run while another upgrade is in progress', () => {
    expect(outcomes.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    expect(outcomes.map(({ output }) => output).join()).toMatch(/another upgrade is in progress/);
  });

  test.each(UNDONE_STEPS)('weir upgrade is undone if the new process is killed %s', async (_when, step) => {
    const before = processOf(weir);
    const loads = Object.values(patientLoads('taken-back'));
    await during(loads, async () => {
      const { code, output } = await runUpgrade(weir, (line, pid) => {
        if (step.test(line)) process.kill(pid, 'SIGKILL');
      });
      expect(code).toBe(1);
      expect(output).toMatch(/the running server continues: .*terminated by SIGKILL/);
    });
    // Queries that the killed process had already read are retried, but not lost.
    expect(loads.flatMap(({ lost }) => lost)).toEqual([]);
    expect(faulty(loads.flatMap(({ rcodes }) => rcodes))).toBe(0);
    expect(processOf(weir)).toBe(before);
  });

  test('continues with the old release if the new process is killed after the old process has ended', async () => {
    const before = processOf(weir);
    let killed = 0;
    const loads = Object.values(patientLoads('left'));
    await during(loads, async () => {
      const { code } = await runUpgrade(weir, (line, pid) => {
        if (!LEFT.test(line)) return;
        process.kill(pid, 'SIGKILL');
        killed = pid;
      });
      expect(code).toBe(1);
      // Only the old process can answer while the new process is halted.
      const successor = await untilSuccessor(before);
      process.kill(successor, 'SIGSTOP');
      await Promise.all(loads.map((load) => load.untilMore(20)));
      process.kill(successor, 'SIGCONT');
      await untilReplaceable();
    });
    expect(loads.flatMap(({ lost }) => lost)).toEqual([]);
    expect(faulty(loads.flatMap(({ rcodes }) => rcodes))).toBe(0);
    expect([before, killed]).not.toContain(processOf(weir));
    // The command receives its result before the old process ends, so this waits for the end.
    await untilEnded(before);
  });

  test('keeps the priority of the answer threads, even after several upgrades', () => {
    // An ordinary user cannot raise the priority that a new process inherits from the control plane.
    expect(nicenessOf(processOf(weir)) - firstNiceness).toBeLessThanOrEqual(3);
  });
});

describe('weir during an upgrade', () => {
  test('continues as the new process if the old process is killed', async () => {
    const before = processOf(weir);
    const loads = Object.values(patientLoads('killed'));
    await during(loads, async () => {
      await runUpgrade(weir, (line) => {
        if (/^the new process answers/.test(line)) process.kill(before, 'SIGKILL');
      });
      await untilReplaceable();
    });
    expect(faulty(loads.flatMap(({ rcodes }) => rcodes))).toBe(0);
    expect(processOf(weir)).not.toBe(before);
  });
});
