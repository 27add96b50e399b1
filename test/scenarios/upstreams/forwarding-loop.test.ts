/** A router that is an upstream of Weir, and has Weir as its upstream: a node reports the loop. */
import { expect, test } from '@jest/globals';
import { idOf, questionOf, response } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

/** A server that knows only the root. It forwards other questions to `forwardTo`, if set. */
async function router(): Promise<ScriptedUpstream & { forwardTo: UdpClient | null }> {
  const server = Object.assign(await ScriptedUpstream.start(), { forwardTo: null as UdpClient | null });
  server.udpScript = (query) => {
    const { bytes } = query;
    const asked = questionOf(bytes);
    const isRoot = asked.qname.length === 1;
    if (isRoot || server.forwardTo === null) query.reply(response(asked, { id: idOf(bytes) }));
    else
      void server.forwardTo
        .exchange(bytes.slice())
        .then((answer) => query.reply(answer.bytes))
        .catch(() => undefined);
  };
  return server;
}

test('health and log report a forwarding loop only for the server that sends queries back', async () => {
  await using looping = await router();
  await using honest = await router();
  const addresses = [looping, honest].map(({ port }) => `127.0.0.1:${String(port)}`);
  const weir = await Weir.start({
    toml: '[dns.health_check]\ninterval_secs = 1\n',
    database: 'none',
    upstreams: addresses,
  });
  try {
    using back = await UdpClient.open(weir.dnsPort);
    looping.forwardTo = back;
    await weir.untilHealth(({ checks }) => checks.upstreams.status === 'degraded');
    const reports = (): string[] =>
      weir.output.split('\n').filter((line) => line.includes('forwarding loop'));
    const [report] = await until('the loop in the log', reports, ({ length }) => length > 0);
    expect(report).toContain(addresses[0]);
    expect(reports().join()).not.toContain(addresses[1]);
  } finally {
    looping.forwardTo = null;
    expect(await weir.stop()).toMatchObject({ code: 0 });
  }
});
