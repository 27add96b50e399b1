/** A client of DNS over HTTPS (HTTP/2) without retries; it returns responses unchanged. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
} from 'node:http2';
import { within } from '../parts/until.ts';
import { DNS_MESSAGE_TYPE } from '../../../shared/dns/doh-target.ts';

/** A response as received. */
export interface DohReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The path of a GET request for a message. */
export function dohPath(message: Uint8Array): string {
  return `/dns-query?dns=${Buffer.from(message).toString('base64url')}`;
}

/** A client with one connection. */
export class DohClient {
  readonly session: ClientHttp2Session;

  /** Without the certificate of an authority, any server certificate is accepted. */
  constructor(port: number, ca?: string, servername?: string) {
    const checked = ca === undefined ? { rejectUnauthorized: false } : { ca, servername };
    this.session = connect(`https://127.0.0.1:${port}`, checked);
    this.session.on('error', () => undefined);
  }

  /** Sends a query by GET. */
  get(message: Uint8Array): Promise<DohReply> {
    return this.request({ ':path': dohPath(message) });
  }

  /** Sends a query by POST. */
  post(message: Uint8Array, more: OutgoingHttpHeaders = {}): Promise<DohReply> {
    const headers = { ':method': 'POST', ':path': '/dns-query', 'content-type': DNS_MESSAGE_TYPE, ...more };
    return this.request(headers, message);
  }

  /** Sends any request. */
  async request(headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<DohReply> {
    const stream = this.open(headers, body);
    const what = `the answer over HTTPS to ${String(headers[':method'] ?? 'GET')} ${String(headers[':path'])}`;
    const [answered] = (await within(what, once(stream, 'response'))) as [
      IncomingHttpHeaders & { ':status': number },
    ];
    const chunks = (await within(`the end of ${what}`, stream.toArray())) as Buffer[];
    return { status: answered[':status'], headers: answered, body: Buffer.concat(chunks) };
  }

  /** Sends a request and returns its stream to the caller. */
  open(headers: OutgoingHttpHeaders, body?: Uint8Array): ClientHttp2Stream {
    const stream = this.session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  }

  close(): void {
    this.session.destroy();
  }
}
