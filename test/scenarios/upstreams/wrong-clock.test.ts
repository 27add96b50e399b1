/**
 * A machine without a battery-backed clock starts with a time years in the past, with DNSSEC enabled. In all tests
 * except one, the clock is right, and the signatures and the earliest possible time are six years ahead instead, which
 * is equivalent.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TIME_FILE } from '../../../control-plane/host/clock/clock-floor.ts';
import { ExtendedError } from '../../../shared/dns/iana.ts';
import { FlagsLow } from '../../../shared/dns/wire.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { SIGNED_ROOT, SIGNED_ROOT_DS, signedZones } from '../../support/dns/signed-server.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';
import { makeTempDir, type TempDir } from '../../support/weir/data-dir.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const TRUE_MS = Date.now() + 6 * 365 * 86_400_000;
const DO = { edns: { dnssecOk: true } };

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await ScriptedUpstream.start();
  upstream.udpScript = signedZones(7, { atSecs: Math.floor(TRUE_MS / 1000) });
});
afterAll(() => upstream.close());

function isSecure({ rcode, bytes }: Reply): boolean {
  return rcode === 0 && (bytes[3]! & FlagsLow.AD) !== 0;
}

describe('a worker whose clock is before the release date of its program', () => {
  const start = (clockFloorMs: number): Promise<RunningWorker> =>
    RunningWorker.start(snapshotOf([], {}, 1), {
      upstream,
      settings: { dnssec: { anchors: SIGNED_ROOT, negativeAnchors: [] }, clockFloorMs },
    });

  test('validates signatures without checking their validity periods', async () => {
    await using worker = await start(TRUE_MS);
    using client = await UdpClient.open(worker.port);
    const reply = await client.ask('one.example', 'A', DO);
    expect([isSecure(reply), reply.data[0]]).toEqual([true, '192.0.2.7']);
    // The TTL is short, because the clock may be set at any moment.
    expect(reply.answers[0]?.ttl).toBeLessThanOrEqual(30);
  });

  test('checks validity periods again once the clock has passed the release date', async () => {
    await using worker = await start(Date.now() - 1000);
    using client = await UdpClient.open(worker.port);
    const reply = await client.ask('one.example', 'A', DO);
    expect([reply.rcode, reply.extendedErrors]).toEqual([2, [ExtendedError.SIGNATURE_NOT_YET_VALID]]);
  });
});

/** A module that moves the wall clock of a process to the start of 2020; threads also load it. */
const CLOCK_OF_2020 = `
const RightDate = Date;
const aheadMs = Date.UTC(2020, 0, 1) - Date.now();
globalThis.Date = class Date extends RightDate {
  constructor(...parts) {
    if (parts.length === 0) super(RightDate.now() + aheadMs);
    else super(...parts);
  }
  static now() {
    return RightDate.now() + aheadMs;
  }
};
`;

describe('weir with a wrong clock', () => {
  let tempDir: TempDir;
  beforeEach(() => {
    tempDir = makeTempDir();
    mkdirSync(tempDir.dataDir, { recursive: true });
    writeFileSync(join(tempDir.path, 'anchors'), `${SIGNED_ROOT_DS}\n`);
  });
  afterEach(() => tempDir.remove());

  async function expectAnswers(by: ScriptedUpstream, env: Readonly<Record<string, string>>): Promise<void> {
    const pools = `[dns]
dnssec_enabled = true
dnssec_trust_anchors = ${JSON.stringify(join(tempDir.path, 'anchors'))}
[[dns.pools]]
name = "signed"
servers = ["127.0.0.1:${String(by.port)}"]
`;
    const weir = await Weir.start({ tempDir, pools, env, database: 'none' });
    try {
      using client = await UdpClient.open(weir.dnsPort);
      expect(isSecure(await client.ask('ntp.example', 'A', DO))).toBe(true);
      expect(weir.output).toContain('clock is wrong; DNSSEC ignores the validity periods of signatures');
      const { checks } = await weir.untilHealth((health) => health.checks.clock.status !== 'ok');
      expect(checks.clock.status).toBe('degraded');
    } finally {
      await weir.stop();
    }
  }

  test('answers signed names if the clock is in 2020, before its release, and reports the wrong clock', async () => {
    await using now = await ScriptedUpstream.start();
    now.udpScript = signedZones(8);
    const path = join(tempDir.path, 'clock.mjs');
    writeFileSync(path, CLOCK_OF_2020);
    await expectAnswers(now, { NODE_OPTIONS: `--import=${pathToFileURL(path).href}` });
  });

  test('answers signed names if the clock is before the last stored time, and reports the wrong clock', async () => {
    writeFileSync(join(tempDir.dataDir, TIME_FILE), `${new Date(TRUE_MS).toISOString()}\n`);
    await expectAnswers(upstream, {});
  });
});
