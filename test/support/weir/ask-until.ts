/**
 * A program that repeatedly queries the A record of its third argument from the server in its first two arguments,
 * address and port, until the answer is the fourth argument; then prints the number of replies. Runs on the
 * `NetworkDevice` of a test.
 */
import { UdpClient } from '../dns/dns-client.ts';
import { until } from '../parts/until.ts';

const PAUSE_MS = 50;

const [address = '', port = '', name = '', wanted = ''] = process.argv.slice(2);
using udp = await UdpClient.open(Number(port), address);
let replies = 0;
await until(
  `${address} to answer ${name} with ${wanted}`,
  async () => {
    const { data } = await udp.ask(name, 'A');
    replies++;
    return data;
  },
  ([first]) => first === wanted,
  { pauseMs: PAUSE_MS },
);
process.stdout.write(`${String(replies)}\n`);
