/** Uncaught errors in a resolve thread, injected by the test hook: they are counted, and the thread continues. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { askOverTcp, UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { BACK_ENDS, Weir } from '../../support/weir/weir-process.ts';

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream.close());

describe.each(BACK_ENDS)('weir, back end %s', (backEnd) => {
  let weir: Weir;
  let udp: UdpClient;
  beforeAll(async () => {
    const env = { WEIR_SERVER_WORKERS: '1' };
    weir = await Weir.start({
      backEnd,
      env,
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      database: 'none',
    });
    udp = await UdpClient.open(weir.dnsPort);
  });
  afterAll(async () => {
    udp.close();
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  async function internalErrors(): Promise<number> {
    return (await weir.measure()).workers[0]!.resolve.counters['INTERNAL_ERRORS']!;
  }

  test.each(['throw-in-timer', 'throw-in-event', 'reject'] as const)(
    'keeps a resolve thread after an uncaught error: %s',
    async (fault) => {
      const before = await internalErrors();
      weir.injectFault(0, 'resolve', fault);
      await until('one more internal error', internalErrors, (count) => count === before + 1);
      const name = `after-${fault}-${backEnd}.example.com`;
      expect((await udp.ask(name, 'A')).data).toEqual([EVERY_ADDRESS]);
      expect((await askOverTcp(weir.dnsPort, `tcp-${name}`, 'A')).data).toEqual([EVERY_ADDRESS]);
      expect(weir.replacedThreads).toBe(0);
      await weir.untilOutput(/internal error; continuing/);
    },
  );
});
