/**
 * A program: asks the server at its first two arguments, address and port, for A of the third, again and
 * again, until the answer is the fourth; then says how many replies came. Runs where the test's device is.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UdpClient } from '../dns/dns-client.ts';

const PAUSE_MS = 50;

const [address = '', port = '', name = '', wanted = ''] = process.argv.slice(2);
using udp = await UdpClient.open(Number(port), address);
for (let replies = 1; ; replies++) {
  const { data } = await udp.ask(name, 'A');
  if (data[0] === wanted) {
    process.stdout.write(`${String(replies)}\n`);
    break;
  }
  await sleep(PAUSE_MS);
}
