/** A log that cannot be written. */
import { describe, expect, test } from '@jest/globals';
import { Rcode, RRClass } from '../../../shared/dns/iana.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

describe('weir with its log on a full disk', () => {
  test('weir keeps answering although not a line of its log can be written', async () => {
    // One that answers: a server that does not makes the node degraded.
    await using upstream = await startEchoingUpstream();
    // The kernel's own full disk.
    await using weir = await Weir.start({
      outputFile: '/dev/full',
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      toml: '[logging]\nlevel = "debug"\n',
    });
    // Signing in writes to the log.
    await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
