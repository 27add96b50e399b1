/** A Weir server that streams its queries to a dnstap receiver. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DnstapReceiver } from '../../support/dns/dnstap-receiver.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import { Weir } from '../../support/weir/weir-process.ts';

let receiver: DnstapReceiver;
let weir: Weir;
beforeAll(async () => {
  receiver = new DnstapReceiver();
  const excluded = '[database]\nlog_excluded_domains = ["test"]\n';
  const toml = `${excluded}[logging]\ndnstap = "${await receiver.target()}"\n`;
  weir = await Weir.start({ upstreams: ['127.0.0.1:9'], toml });
});
afterAll(async () => {
  await weir.stop();
  await receiver.remove();
});

describe('logging.dnstap', () => {
  test('weir streams its answers to the receiver in logging.dnstap', async () => {
    const api = await weir.api();
    using client = await UdpClient.open(weir.dnsPort);
    const sent = async (): Promise<number> => (await api.metrics()).sum('weir_dnstap_sent_frames_total');
    // Answers that are sent before the receiver has accepted the connection are lost and counted.
    await until(
      'the first frame to be sent',
      async () => {
        await client.ask('excluded.test', 'A');
        await client.ask('localhost', 'A');
        return sent();
      },
      Boolean,
      { pauseMs: 50 },
    );
    const taken = await receiver.taken();
    expect(taken).toMatch(/response_message:[^]*;localhost\.\s+IN\s+A/);
    expect(taken).not.toContain('excluded.test');
  });
});
