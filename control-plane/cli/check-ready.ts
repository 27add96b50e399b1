/**
 * `weir ready`: queries `status.weir` (class CHAOS) from the node on this machine, as load balancers do. This does not
 * use the API or the database, because a node without a database answers queries and should stay in service.
 */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { decodeMessage, encodeMessage } from '../../shared/dns/codec.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { LOCAL_PROXY_HEADER } from '../../shared/net/proxy-header.ts';
import type { ProxySenders } from '../../shared/net/proxy-senders.ts';
import { reasonOf } from '../../shared/errors.ts';
import { localAddress } from '../host/local-address.ts';
import type { Terminal } from './terminal.ts';

/** Addresses and ports of the node for DNS. */
export interface DnsListener {
  readonly addresses: readonly string[];
  /** Ports in order of preference; the node uses the first port that was available. */
  readonly ports: readonly number[];
  /** Senders that must send a PROXY header over UDP. */
  readonly senders: Pick<ProxySenders, 'hasNamed'>;
}

/** Milliseconds to wait for a response; longer than the half second that it takes to replace a thread. */
const TIMEOUT_MS = 2000;
/** Message id. It need not be random: the socket is connected, so the kernel discards packets from other senders. */
const ID = 1;

/** Prints the state that the node reports; returns the exit status, 0 only if it is `ready`. */
export async function checkReady(
  { addresses, ports, senders }: DnsListener,
  terminal: Terminal,
): Promise<0 | 1> {
  const failures: string[] = [];
  const address = localAddress(addresses);
  // The source address equals the destination, because both are on this machine; so a PROXY header may be required.
  const own = addressFromText(address);
  const header = own !== null && senders.hasNamed(own) ? LOCAL_PROXY_HEADER : new Uint8Array();
  for (const port of ports) {
    const failure = await whyNotReady(address, port, header);
    if (failure === null) {
      terminal.out('ready');
      return 0;
    }
    failures.push(failure);
  }
  for (const failure of failures) terminal.err(`weir: ${failure}`);
  return 1;
}

/** Reason why the node on this port is not ready; null = it is ready. */
async function whyNotReady(address: string, port: number, header: Uint8Array): Promise<string | null> {
  const where = `${address} port ${String(port)}`;
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  try {
    socket.connect(port, address);
    const state = await askState(socket, header);
    if (state === 'ready') return null;
    return state === null
      ? `${where} does not report its state; dns.chaos_clients lists the clients that may query it`
      : `${where} is ${state}`;
  } catch (error) {
    return `${where} does not answer: ${reasonOf(error)}`;
  } finally {
    socket.close();
  }
}

/** The text of `status.weir`; null if the answer does not contain it. */
async function askState(socket: Socket, header: Uint8Array): Promise<string | null> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await once(socket, 'connect', { signal });
  const query = encodeMessage({
    type: 'query',
    id: ID,
    questions: [{ name: 'status.weir', type: 'TXT', class: 'CH' }],
  });
  socket.send([header, query]);
  const [bytes] = (await once(socket, 'message', { signal })) as [Uint8Array];
  const [answer] = decodeMessage(bytes)?.answers ?? [];
  return answer?.type === 'TXT' ? String(answer.data) : null;
}
