/**
 * DNS over HTTPS on the web port, for clients and reverse proxies that can only use that port: relayed to a DNS thread.
 * The DNS threads serve the dedicated port themselves, even if the control plane is down.
 */
import type { Express, Request, Response } from 'express';
import { DOH_PATH, dohFields, MAX_DOH_QUERY_SIZE, readDohTarget } from '../../../shared/dns/doh-target.ts';
import { Header } from '../../../shared/dns/wire.ts';
import { clientNetwork } from '../../../shared/net/client-network.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { clientAddress } from '../../api/client-address.ts';
import { readBytes } from '../../api/request-body.ts';
import { ThreadUnavailable } from '../../threads/thread-requests.ts';

/**
 * Sends a message of a client to a DNS thread: the client's 16-byte address, and its key ('' = none); resolves with the
 * reply, or null if no reply is due.
 */
export type RelayQuery = (
  message: Uint8Array,
  client: Uint8Array,
  clientKey: string,
) => Promise<Uint8Array | null>;

/** Records the address of a request, and the client in X-Forwarded-For, if any. */
export type NoteForwarding = (address: string, forwardedFor: string | undefined) => void;

/** Maximum number of queries that wait for a thread; more get 503. */
const MAX_WAITING = 256;
/** Maximum number of waiting requests of one client network; further requests get 429. */
const MAX_WAITING_PER_NETWORK = 64;

/** Answers DNS over HTTPS at its path. `note` is called for requests whose address is not that of a trusted proxy. */
export function addDohRelay(app: Express, relay: RelayQuery, note: NoteForwarding = () => undefined): void {
  let waiting = 0;
  const waitingOf = new Map<string, number>();
  const count = (network: string, change: 1 | -1): void => {
    waiting += change;
    const ofNetwork = (waitingOf.get(network) ?? 0) + change;
    if (ofNetwork === 0) waitingOf.delete(network);
    else waitingOf.set(network, ofNetwork);
  };
  const path = new RegExp(`^${DOH_PATH}(/|$)`);
  app.all(path, async (request: Request, response: Response): Promise<void> => {
    const asked = await askedBy(request, response);
    if (asked === null) return;
    const client = addressFromText(request.ip ?? '');
    if (request.ips.length === 0) note(clientAddress(request), request.get('x-forwarded-for'));
    if (waiting >= MAX_WAITING || client === null) {
      response.status(503).set('retry-after', '1').end();
      return;
    }
    const network = clientNetwork(clientAddress(request));
    if ((waitingOf.get(network) ?? 0) >= MAX_WAITING_PER_NETWORK) {
      response.status(429).set('retry-after', '1').end();
      return;
    }
    count(network, 1);
    try {
      const reply = await relay(asked.message, client, asked.clientKey);
      if (reply === null) response.status(400).end();
      else
        response
          .status(200)
          .set(headerTexts(dohFields(reply)))
          .end(reply);
    } catch (error) {
      if (!(error instanceof ThreadUnavailable)) throw error;
      response.status(503).set('retry-after', '1').end();
    } finally {
      count(network, -1);
    }
  });
}

/** The DNS message of a request; null if the request contains none and has been answered. Throws 400 and 413. */
async function askedBy(
  request: Request,
  response: Response,
): Promise<{ message: Uint8Array; clientKey: string } | null> {
  const target = readDohTarget(request.method, request.originalUrl, request.headers['content-type'] ?? '');
  if (target.kind === 'refused') {
    if (target.status === 405) response.set('allow', 'GET, POST');
    response.status(target.status).end();
    return null;
  }
  const message = target.kind === 'message' ? target.message : await readBytes(request, MAX_DOH_QUERY_SIZE);
  if (message.length >= Header.SIZE && message.length <= MAX_DOH_QUERY_SIZE)
    return { message, clientKey: target.clientKey };
  response.status(400).end();
  return null;
}

function headerTexts(fields: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}
