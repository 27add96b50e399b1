/** A first start in an empty folder, without a configuration file. */
import { expect } from '@jest/globals';
import { RRClass, Rcode } from '../../../shared/dns/iana.ts';
import { UdpClient } from '../dns/dns-client.ts';
import { freePort } from './free-ports.ts';
import { ownEnvironment, OwnProcess, START_COMMAND } from './weir-process.ts';
import type { User } from './weir-process.ts';

/** A local address on which no other program listens. */
export const ADDRESS = `127.53.${String(1 + Math.floor(Math.random() * 250))}.${String(1 + Math.floor(Math.random() * 250))}`;
/** Port on which Weir answers if port 53 is not available. */
const FALLBACK_PORT = 5300;
const POOLS = '[{"name":"none","servers":["127.0.0.1:9"]}]';

/** Starts Weir in an empty folder without a configuration file. */
export async function startBare(
  folder: string,
  dataDir: string,
  options: Partial<User> = {},
): Promise<{ weir: OwnProcess; webPort: number }> {
  const webPort = await freePort([ADDRESS]);
  const env = {
    ...ownEnvironment(),
    WEIR_SERVER_DATA_DIR: dataDir,
    WEIR_SERVER_BIND_ADDRESS: ADDRESS,
    WEIR_SERVER_WEB_PORT: String(webPort),
    WEIR_DNS_POOLS: POOLS,
  };
  const [node, args] = START_COMMAND;
  return { weir: new OwnProcess(node, args, { cwd: folder, env, ...options }), webPort };
}

/** Sends Weir a query on port 5300 that needs no upstream. */
export async function expectAnswers(): Promise<void> {
  using udp = await UdpClient.open(FALLBACK_PORT, ADDRESS);
  expect(await udp.ask('example.com', 'A', { qclass: RRClass.CH })).toMatchObject({ rcode: Rcode.REFUSED });
}
