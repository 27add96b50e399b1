/** A log file on a full disk. */
import { describe, expect, test } from '@jest/globals';
import { Rcode, RRClass } from '../../../shared/dns/iana.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import { Weir } from '../../support/weir/weir-process.ts';

describe('weir with its program log on a full disk', () => {
  test('keeps answering although no line of its program log can be written', async () => {
    // The upstream must answer, because an upstream without answers would make the node degraded.
    await using upstream = await startEchoingUpstream();
    // Writes to the kernel's device /dev/full fail as on a full disk.
    await using weir = await Weir.start({
      outputFile: '/dev/full',
      upstreams: [`127.0.0.1:${String(upstream.port)}`],
      toml: '[logging]\nlevel = "debug"\n',
    });
    // A login writes a line to the log.
    await weir.api();
    using udp = await UdpClient.open(weir.dnsPort);
    expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
    expect((await weir.health()).body).toMatchObject({ status: 'ok' });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
