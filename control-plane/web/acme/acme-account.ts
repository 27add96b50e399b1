/**
 * Requests to an ACME server that are signed with the key of an account (RFC 8555 section 6): nonces, retries after
 * rejected nonces, and problems as messages for users.
 */
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { acmeFault } from './acme-http.ts';
import type { AcmeFault } from './acme-http.ts';
import type { AcmeResponse, SendToAcme } from './acme-http.ts';

/** Maximum number of attempts of a request whose nonce the server rejects. */
const MAX_NONCES = 20;

/** A response with its JSON body; `location` is the URL of the created resource. */
export interface AcmeAnswer {
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly location: string | null;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** Terms of service; null = the server has none. */
  readonly terms: string | null;
}

/** Parts of an account. */
export interface AcmeAccountParts {
  readonly directoryUrl: string;
  /** ECDSA key with P-256. */
  readonly key: KeyObject;
  readonly send: SendToAcme;
  readonly signal: AbortSignal;
}

/** One account at one server, for one order. */
export class AcmeAccount {
  private readonly parts: AcmeAccountParts;
  private readonly directory: Directory;
  private nonce: string | null = null;
  private url: string | null = null;

  private constructor(parts: AcmeAccountParts, directory: Directory) {
    this.parts = parts;
    this.directory = directory;
  }

  /** Reads the directory, and creates the account or finds the existing account of the key. */
  static async open(parts: AcmeAccountParts, email: string, areTermsAgreed: boolean): Promise<AcmeAccount> {
    const response = await parts.send({ method: 'GET', url: parts.directoryUrl }, parts.signal);
    if (response.status !== 200) throw faultOf(response, 'acme_directory_status');
    const account = new AcmeAccount(parts, readDirectory(jsonOf(response)));
    const { terms } = account.directory;
    if (terms !== null && !areTermsAgreed) throw acmeFault('acme_terms', { url: terms.slice(0, MAX_DETAIL) });
    const { location } = await account.post(account.directory.newAccount, {
      ...(email !== '' && { contact: [`mailto:${email}`] }),
      ...(terms !== null && { termsOfServiceAgreed: true }),
    });
    if (location === null) throw acmeFault('acme_without_account');
    account.url = location;
    return account;
  }

  /** Creates an order for these names. */
  newOrder(names: readonly string[]): Promise<AcmeAnswer> {
    return this.post(this.directory.newOrder, {
      identifiers: names.map((value) => ({ type: 'dns', value })),
    });
  }

  /** Reads a resource (POST-as-GET). */
  read(url: string): Promise<AcmeAnswer> {
    return this.post(url, null);
  }

  /** Response to a challenge with this token (RFC 8555 section 8.1). */
  async keyAuthorization(token: string): Promise<string> {
    const { calculateJwkThumbprint } = await import('jose');
    return `${token}.${await calculateJwkThumbprint(await this.jwk(), 'sha256')}`;
  }

  /** Sends a signed request; a null `payload` only reads. */
  async post(url: string, payload: object | null): Promise<AcmeAnswer> {
    for (let attempt = 1; ; attempt++) {
      const body = await this.sign(url, payload, await this.takeNonce());
      const response = await this.parts.send({ method: 'POST', url, body }, this.parts.signal);
      this.nonce = nonceOf(response);
      if (response.status < 300)
        return { body: jsonOf(response, {}), text: response.text, location: headerOf(response, 'location') };
      if (attempt < MAX_NONCES && typeOf(response) === 'badNonce') continue;
      throw faultOf(response, 'acme_request_status');
    }
  }

  private async takeNonce(): Promise<string> {
    const kept = this.nonce;
    this.nonce = null;
    if (kept !== null) return kept;
    const { newNonce: url } = this.directory;
    const nonce = nonceOf(await this.parts.send({ method: 'HEAD', url }, this.parts.signal));
    if (nonce === null) throw acmeFault('acme_without_nonce');
    return nonce;
  }

  private async sign(url: string, payload: object | null, nonce: string): Promise<string> {
    const { FlattenedSign } = await import('jose');
    const content = Buffer.from(payload === null ? '' : JSON.stringify(payload));
    const sender = this.url === null ? { jwk: await this.jwk() } : { kid: this.url };
    const jws = await new FlattenedSign(content)
      .setProtectedHeader({ alg: 'ES256', nonce, url, ...sender })
      .sign(this.parts.key);
    return JSON.stringify(jws);
  }

  private async jwk() {
    const { exportJWK } = await import('jose');
    return exportJWK(createPublicKey(this.parts.key));
  }
}

function readDirectory(found: Readonly<Record<string, unknown>>): Directory {
  const { newNonce, newAccount, newOrder, meta } = found;
  if (typeof newNonce !== 'string' || typeof newAccount !== 'string' || typeof newOrder !== 'string')
    throw acmeFault('acme_not_directory');
  const { termsOfService: terms, externalAccountRequired: isBound } = (meta ?? {}) as Record<string, unknown>;
  if (isBound === true) throw acmeFault('acme_external_account');
  return { newNonce, newAccount, newOrder, terms: typeof terms === 'string' ? terms : null };
}

function nonceOf(response: AcmeResponse): string | null {
  const nonce = headerOf(response, 'replay-nonce');
  return nonce !== null && /^[\w-]{1,500}$/.test(nonce) ? nonce : null;
}

function headerOf({ headers }: AcmeResponse, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}

/** The body as an object; if it is not an object, returns `otherwise`, or throws if `otherwise` is missing. */
function jsonOf({ text }: AcmeResponse, otherwise?: object): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The body is not JSON: it is, for example, a page of a proxy, or a certificate.
  }
  if (otherwise !== undefined) return otherwise as Record<string, unknown>;
  throw acmeFault('acme_not_json');
}

/** The last part of the problem type, such as `badNonce`. */
function typeOf(response: AcmeResponse): string {
  const { type } = jsonOf(response, {});
  return typeof type === 'string' ? (type.split(':').at(-1) ?? '') : '';
}

function faultOf(response: AcmeResponse, code: 'acme_directory_status' | 'acme_request_status'): AcmeFault {
  const text = problemText(jsonOf(response, {}));
  return text === null ? acmeFault(code, { status: response.status }) : acmeFault('acme_reported', { text });
}

/** Maximum length of a text from the server in messages. */
const MAX_DETAIL = 500;

/** Text of a problem, with the problems of single names; null for another value. */
export function problemText(problem: unknown): string | null {
  if (typeof problem !== 'object' || problem === null) return null;
  const { detail, subproblems } = problem as { detail?: unknown; subproblems?: unknown };
  if (typeof detail !== 'string') return null;
  const others = Array.isArray(subproblems) ? (subproblems as ({ detail?: unknown } | null)[]) : [];
  const details = others.map((one) => one?.detail).filter((one) => typeof one === 'string');
  const text = [...new Set([detail, ...details])].join('; ');
  return text.replaceAll(/\p{C}+/gu, ' ').slice(0, MAX_DETAIL);
}
