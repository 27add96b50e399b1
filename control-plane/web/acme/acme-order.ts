/** One order for a certificate (RFC 8555 section 7.1.6): proves the names, sends the request, and reads the chain. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ACME_STEPS } from '../../../shared/api/tls-api.ts';
import { acmeFault } from './acme-http.ts';
import { problemText } from './acme-account.ts';
import type { AcmeAccount } from './acme-account.ts';

/** Step of an order, for progress. */
export type OrderStep = (typeof ACME_STEPS)[number];

/** Kinds of proof. */
export type ChallengeType = 'http-01' | 'dns-01';

/** Publishes the proofs of the names of one order. */
export interface ChallengeResponder {
  readonly type: ChallengeType;
  /** Makes all proofs visible. */
  put(proofs: readonly Proof[]): Promise<void>;
  /** Removes the proofs; must not throw. */
  remove(): Promise<void>;
}

/** Proof that a name is under this server's control. */
export interface Proof {
  /** Name without its wildcard. */
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

/** Parts of an order. */
export interface OrderParts {
  readonly account: AcmeAccount;
  readonly names: readonly string[];
  /** Certificate signing request in DER. */
  readonly request: Buffer;
  readonly responder: ChallengeResponder;
  readonly signal: AbortSignal;
  readonly onStep: (step: OrderStep) => void;
  /** Milliseconds between two checks of the state. */
  readonly pollMs?: number;
}

const POLL_MS = 2000;
/** Maximum wait for one state; the server decides how long its checks take. */
const MAX_WAIT_MS = 300_000;

interface Challenge extends Proof {
  readonly url: string;
  readonly authorizationUrl: string;
}

/** The chain in PEM. @throws {AcmeFault} */
export async function orderCertificate(parts: OrderParts): Promise<string> {
  const { account, names, request, responder, onStep } = parts;
  onStep('challenges');
  const order = await account.newOrder(names);
  const orderUrl = order.location;
  const urls = order.body['authorizations'];
  if (orderUrl === null || !Array.isArray(urls)) throw acmeFault('acme_without_proofs');
  const pending = await pendingChallenges(parts, urls.map(String));
  try {
    if (pending.length > 0) await responder.put(pending);
    onStep('validation');
    for (const { url } of pending) await account.post(url, {});
    for (const { authorizationUrl, name } of pending) await untilValid(parts, authorizationUrl, name);
  } finally {
    await responder.remove();
  }
  onStep('certificate');
  const ready = await untilStatus(parts, orderUrl, ['ready', 'valid']);
  if (ready['status'] === 'ready')
    await account.post(urlIn(ready, 'finalize'), { csr: request.toString('base64url') });
  const done = await untilStatus(parts, orderUrl, ['valid']);
  return (await account.read(urlIn(done, 'certificate'))).text;
}

/** The challenges of the names that are not proven yet. */
async function pendingChallenges(
  { account, responder }: OrderParts,
  urls: readonly string[],
): Promise<Challenge[]> {
  const found: Challenge[] = [];
  for (const authorizationUrl of urls) {
    const { body } = await account.read(authorizationUrl);
    if (body['status'] === 'valid') continue;
    const name = String((body['identifier'] as { value?: unknown } | undefined)?.value);
    const challenges = Array.isArray(body['challenges']) ? (body['challenges'] as unknown[]) : [];
    const offered = challenges as { type?: unknown; url?: unknown; token?: unknown }[];
    const chosen = offered.find(({ type }) => type === responder.type);
    if (
      typeof chosen?.url !== 'string' ||
      typeof chosen.token !== 'string' ||
      !/^[\w-]{1,200}$/.test(chosen.token)
    )
      throw acmeFault('acme_not_offered', { name, challenge: responder.type });
    const { url, token } = chosen;
    const keyAuthorization = await account.keyAuthorization(token);
    found.push({ name, token, keyAuthorization, url, authorizationUrl });
  }
  return found;
}

async function untilValid(parts: OrderParts, url: string, name: string): Promise<void> {
  const body = await untilStatus(parts, url, ['valid', 'invalid', 'deactivated', 'expired', 'revoked']);
  if (body['status'] === 'valid') return;
  const challenges = Array.isArray(body['challenges']) ? (body['challenges'] as { error?: unknown }[]) : [];
  const text = challenges.map(({ error }) => problemText(error)).find((found) => found !== null);
  if (text === undefined) throw acmeFault('acme_not_authorized', { name, status: String(body['status']) });
  throw acmeFault('acme_name_reported', { name, text });
}

/** Reads a resource until it has one of these states. */
async function untilStatus(
  { account, signal, pollMs = POLL_MS }: OrderParts,
  url: string,
  wanted: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const endMs = performance.now() + MAX_WAIT_MS;
  while (performance.now() < endMs) {
    const { body } = await account.read(url);
    const status = String(body['status']);
    if (wanted.includes(status)) return body;
    if (status === 'invalid') {
      const text = problemText(body['error']);
      throw text === null ? acmeFault('acme_refused') : acmeFault('acme_reported', { text });
    }
    await sleep(pollMs, undefined, { signal });
  }
  throw acmeFault('acme_undecided', { minutes: MAX_WAIT_MS / 60_000 });
}

function urlIn(body: Readonly<Record<string, unknown>>, key: string): string {
  const url = body[key];
  if (typeof url !== 'string') throw acmeFault('acme_without_url', { key });
  return url;
}
