/**
 * A program: asks the server at its first two arguments, address and port, for A of the third, again and
 * again, until the answer is the fourth; then says how many replies came. Runs where the test's device is.
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
