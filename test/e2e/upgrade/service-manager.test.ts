/** Weir under a service manager: its notifications, and the sockets that outlive a killed process. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { describeCalls } from '../../support/parts/system-calls.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import { ServiceStandIn } from '../../support/weir/service-stand-in.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/**
 * Periods of the watchdog, microseconds: a short period that the test observes, and a long period that does not expire.
 */
const [OFTEN_US, SELDOM_US] = [200_000, 3_600_000_000];

describeCalls('weir under a service manager', () => {
  const tempDir = makeTempDir();
  let upstream: ScriptedUpstream;
  let manager: ServiceStandIn;
  let weir: Weir;
  let dnsPort: number;
  let webPort: number;

  const start = async (descriptors: readonly number[], watchdogUs: number): Promise<Weir> =>
    Weir.start({
      ...{ tempDir, dnsPort, webPort, descriptors },
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      env: { NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: String(watchdogUs) },
    });

  beforeAll(async () => {
    await prepareDataDir(tempDir.dataDir);
    manager = new ServiceStandIn(join(tempDir.path, 'notify'));
    upstream = await startEchoingUpstream();
    dnsPort = await freePort(['127.0.0.1']);
    webPort = await freePort(['127.0.0.1']);
    weir = await start([], OFTEN_US);
  });

  afterAll(async () => {
    manager.close();
    await upstream.close();
    tempDir.remove();
  });

  test('reports to the service manager that it is ready, stores its sockets there, and sends heartbeats', async () => {
    await manager.until(/^READY=1$/);
    await manager.until(/^FDSTORE=1\nFDNAME=weir$/);
    await manager.until(/^WATCHDOG=1$/);
    manager.messages.length = 0;
    await manager.until(/^WATCHDOG=1$/);
    expect(manager.stored.length).toBeGreaterThanOrEqual(3);
  });

  test('passes its sockets to the next start when it is killed; the new process answers all queries received since', async () => {
    expect(await weir.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    using client = await UdpClient.open(dnsPort);
    const waiting = [
      ...Array.from({ length: 100 }, (_, i) => client.ask(`${String(i)}.upgrade.example.com`, 'A')),
      askOverTcp(dnsPort, 'tcp.upgrade.example.com', 'A'),
    ];
    const health = weir.health();
    manager.messages.length = 0;
    weir = await start([...manager.stored], SELDOM_US);
    expect(await health).toMatchObject({ body: { status: expect.any(String) } });
    const replies = await Promise.all(waiting);
    expect(replies.map(({ data }) => data)).toEqual(Array(waiting.length).fill([EVERY_ADDRESS]));
    await manager.until(/^FDSTORE=1\nFDNAME=weir$/);
  });

  test('after an upgrade, reports the new main process, which stores its sockets in the service manager', async () => {
    manager.messages.length = 0;
    expect(await runUpgrade(weir)).toMatchObject({ code: 0 });
    await manager.until(/^FDSTORE=1\nFDNAME=weir$/);
    const pid = processOf(weir);
    const order = manager.messages.map((one) => one.split('\n')[0]);
    expect(order).toEqual([
      `MAINPID=${String(pid)}`,
      'WATCHDOG=1',
      'READY=1',
      'FDSTOREREMOVE=1',
      'FDSTORE=1',
    ]);
    expect(manager.stored.length).toBeGreaterThanOrEqual(3);
    await endProcess(pid, 'SIGTERM');
    await manager.until(/^STOPPING=1$/);
    expect(manager.stored).toEqual([]);
  });
});
