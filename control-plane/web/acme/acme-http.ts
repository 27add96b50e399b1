/** HTTPS requests to an ACME server, with limits: it is not trusted to be fast, small or well-formed. */
import type { AcmeCode, AcmeParams } from '../../../shared/api/client/faults/acme-lines.ts';
import { faultLine } from '../../../shared/api/client/faults/fault-text.ts';
import { request, type RequestOptions } from 'node:https';
import { reasonOf } from '../../../shared/errors.ts';

/** Time limit of one request. */
const TIMEOUT_MS = 30_000;
/** Maximum size of a response; a certificate chain has about 10 KB. */
const MAX_BYTES = 256 * 1024;

/** A request to the ACME server. */
export interface AcmeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly body?: string;
}

/** A complete response. */
export interface AcmeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a request. */
export type SendToAcme = (request: AcmeRequest, signal: AbortSignal) => Promise<AcmeResponse>;

/** An order for a certificate cannot be completed; the message is for users. */
export class AcmeFault extends Error {
  override readonly name = 'AcmeFault';
}

/** The error with the text of a code. */
export function acmeFault<Code extends AcmeCode>(code: Code, ...params: AcmeParams<Code>): AcmeFault {
  return new AcmeFault(faultLine<Code>(code, ...params));
}

/**
 * Sends requests over TLS; `ca` contains the authorities that are trusted for the server's own certificate, null =
 * those of Node.js.
 */
export function acmeSender(userAgent: string, ca: string | null): SendToAcme {
  return (asked, signal) => {
    const url = URL.canParse(asked.url) ? new URL(asked.url) : null;
    if (url?.protocol !== 'https:')
      return Promise.reject(acmeFault('acme_not_https', { url: asked.url.slice(0, 200) }));
    const options = {
      method: asked.method,
      headers: {
        'User-Agent': userAgent,
        ...(asked.body !== undefined && {
          'Content-Type': 'application/jose+json',
          'Content-Length': String(Buffer.byteLength(asked.body)),
        }),
      },
      agent: false as const,
      ...(ca !== null && { ca }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
    return exchange(url, options, asked.body);
  };
}

async function exchange(url: URL, options: RequestOptions, body: string | undefined): Promise<AcmeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<AcmeResponse>();
  const sent = request(url, options, (response) => {
    const parts: Buffer[] = [];
    let size = 0;
    response.on('data', (part: Buffer) => {
      parts.push(part);
      size += part.length;
      if (size > MAX_BYTES) sent.destroy(new Error(`the response has more than ${MAX_BYTES} bytes`));
    });
    response.on('error', reject);
    response.on('end', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: Buffer.concat(parts).toString(),
      }),
    );
  });
  sent.on('error', reject);
  sent.end(body);
  try {
    return await promise;
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'AbortError' && !isStopped(options);
    const reason = isTimeout ? `no answer within ${TIMEOUT_MS / 1000} s` : reasonOf(error);
    throw acmeFault('acme_unreachable', { host: url.host, reason });
  }
}

function isStopped({ signal }: RequestOptions): boolean {
  return signal?.reason instanceof Error && signal.reason.name !== 'TimeoutError';
}
