/** Answers DNS-01 challenges (RFC 8555 section 8.4) by dynamic updates of the primary server of the zone, over TCP. */
import { faultForm } from '../../../shared/api/client/faults/fault-text.ts';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { FrameReader, frame } from '../../../shared/dns/framing.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { acmeFault } from './acme-http.ts';
import type { ChallengeResponder, Proof } from './acme-order.ts';
import { soaRequest, updateRequest } from './dns-update.ts';
import type { DnsRequest, TxtRecord } from './dns-update.ts';
import { replyFault } from './tsig.ts';
import type { TsigAlgorithm, TsigKey } from './tsig.ts';

const TIMEOUT_MS = 10_000;
const RCODE_MASK = 0x0f;
/** Rcodes of RFC 2136 and RFC 8945 with their meaning for an administrator. */
const REFUSALS: Readonly<Record<number, string>> = {
  [Rcode.FORMERR]: faultForm('update_unparsed'),
  [Rcode.NOTIMP]: faultForm('update_unsupported'),
  [Rcode.REFUSED]: faultForm('update_not_allowed'),
  [Rcode.NOTAUTH]: faultForm('update_unknown_key'),
  [Rcode.NOTZONE]: faultForm('update_outside'),
};

/** Server and key for updates. */
export interface DnsChallengeParts {
  /** Host and port of the primary server. */
  readonly host: string;
  readonly port: number;
  readonly key: TsigKey | null;
  /** Milliseconds to wait until secondary servers have the update. */
  readonly waitMs: number;
  readonly nowMs: () => number;
  /** Milliseconds for each answer; by default 10 seconds. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** A responder for one order. */
export function dnsResponder(parts: DnsChallengeParts): ChallengeResponder {
  const added: { readonly zone: string; readonly records: TxtRecord[] }[] = [];
  return {
    type: 'dns-01',
    put: async (proofs) => {
      const records = proofs.map(recordOf);
      for (const [zone, ofZone] of await byZone(parts, records)) {
        // Remember the records before the update: the server may have added them even if its reply is lost.
        added.push({ zone, records: ofZone });
        await update(parts, zone, 'add', ofZone);
      }
      await sleep(parts.waitMs, undefined, { signal: parts.signal });
    },
    remove: async () => {
      for (const { zone, records } of added)
        await update(parts, zone, 'remove', records).catch((error: unknown) =>
          parts.logger.warn('could not remove the TXT records of a certificate order', {
            zone,
            reason: reasonOf(error),
          }),
        );
    },
  };
}

/** The key from a file that contains its secret in base64, on one line. */
export async function readTsigKey(name: string, algorithm: TsigAlgorithm, path: string): Promise<TsigKey> {
  const text = await readFile(path, 'latin1').catch((error: unknown) => {
    throw acmeFault('acme_tsig_unreadable', { reason: reasonOf(error) });
  });
  const secret = Buffer.from(text.trim(), 'base64');
  if (secret.length === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text.trim())) throw acmeFault('acme_tsig_secret');
  return { name, algorithm, secret };
}

function recordOf({ name, keyAuthorization }: Proof): TxtRecord {
  return {
    name: `_acme-challenge.${name}`,
    text: createHash('sha256').update(keyAuthorization).digest('base64url'),
  };
}

async function byZone(
  parts: DnsChallengeParts,
  records: readonly TxtRecord[],
): Promise<Map<string, TxtRecord[]>> {
  const zones = new Map<string, TxtRecord[]>();
  for (const record of records) {
    const zone = await zoneOf(parts, record.name);
    zones.set(zone, [...(zones.get(zone) ?? []), record]);
  }
  return zones;
}

/** The zone of a name: the owner of the SOA record in the server's reply. */
async function zoneOf(parts: DnsChallengeParts, name: string): Promise<string> {
  const reply = await exchange(parts, soaRequest(name));
  const message = decodeMessage(reply);
  const records = [...(message?.answers ?? []), ...(message?.authorities ?? [])];
  const soa = records.find(({ type }) => type === 'SOA');
  if (soa === undefined)
    throw acmeFault('acme_no_zone', { server: serverOf(parts), name, rcode: rcodeOf(reply) });
  return soa.name;
}

async function update(
  parts: DnsChallengeParts,
  zone: string,
  action: 'add' | 'remove',
  records: readonly TxtRecord[],
): Promise<void> {
  const { key, nowMs } = parts;
  const request = updateRequest(zone, action, records, key, nowMs());
  const reply = await exchange(parts, request);
  const rcode = rcodeOf(reply);
  if (rcode === Rcode.NOERROR) {
    // A refusal need not be signed: a server that does not know the key cannot sign it.
    const fault = key === null || request.mac === null ? null : replyFault(reply, request.mac, key, nowMs());
    if (fault === null) return;
    throw acmeFault('acme_reply', { server: serverOf(parts), zone, why: fault });
  }
  const why = REFUSALS[rcode] ?? faultForm('update_rcode', { number: rcode });
  throw acmeFault('acme_update', { server: serverOf(parts), zone, why });
}

/** The reply to a message; its TSIG is not checked by this function. */
async function exchange(parts: DnsChallengeParts, { id, bytes }: DnsRequest): Promise<Uint8Array> {
  const { host, port, timeoutMs = TIMEOUT_MS } = parts;
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const socket = connect({ host, port });
  const giveUp = (): void => void socket.destroy(new Error(`no answer within ${timeoutMs / 1000} s`));
  const timer = setTimeout(giveUp, timeoutMs);
  const frames = new FrameReader((message) => {
    resolve(message.slice());
    return false;
  });
  socket.on('data', (chunk: Buffer) => frames.push(chunk));
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the connection was closed')));
  socket.write(frame(bytes));
  try {
    const reply = await promise;
    if (reply.length < 12 || ((reply[0]! << 8) | reply[1]!) !== id || (reply[2]! & 0x80) === 0)
      throw new Error('the answer belongs to another request');
    return reply;
  } catch (error) {
    throw acmeFault('acme_dns', { server: serverOf(parts), reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function rcodeOf(reply: Uint8Array): number {
  return reply[3]! & RCODE_MASK;
}

function serverOf({ host, port }: DnsChallengeParts): string {
  return `the DNS server ${host}${port === 53 ? '' : ` port ${port}`}`;
}
