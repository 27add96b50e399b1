/**
 * Answers HTTP-01 challenges (RFC 8555 section 8.3) during an order: on the web port, and on a port that is opened only
 * for that time, usually 80. Nothing else is served on that port.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import { acmeFault } from './acme-http.ts';
import type { ChallengeResponder, Proof } from './acme-order.ts';

const PREFIX = '/.well-known/acme-challenge/';
const TIMEOUT_MS = 5000;
const MAX_CONNECTIONS = 50;

/** Ports and addresses at which challenges are answered. */
export interface HttpChallengePort {
  /** 0 = on the web port only. */
  readonly port: number;
  readonly addresses: readonly string[];
  /** Ports on which Weir itself listens already. */
  readonly isOwn: (port: number) => boolean;
}

/** The challenges of this node. */
export class HttpChallenges {
  private readonly answers = new Map<string, string>();

  /** The response body for the target of a request; null = another target, or an unknown token. */
  answerFor(target: string): string | null {
    if (!target.startsWith(PREFIX)) return null;
    return this.answers.get(target.slice(PREFIX.length)) ?? null;
  }

  /** A responder for one order. */
  responder({ port, addresses, isOwn }: HttpChallengePort): ChallengeResponder {
    const servers: Server[] = [];
    const tokens: string[] = [];
    return {
      type: 'http-01',
      put: async (proofs: readonly Proof[]) => {
        for (const { token, keyAuthorization } of proofs) {
          tokens.push(token);
          this.answers.set(token, keyAuthorization);
        }
        if (port === 0 || isOwn(port)) return;
        for (const address of addresses) {
          const server = await this.listen(port, address);
          if (server !== null) servers.push(server);
        }
        if (servers.length === 0) throw acmeFault('acme_port', { port });
      },
      remove: async () => {
        for (const token of tokens) this.answers.delete(token);
        await Promise.all(servers.map(closed));
      },
    };
  }

  /** The listening server; null if this machine does not have the address, for example without IPv6. */
  private async listen(port: number, address: string): Promise<Server | null> {
    const server = nodeHttp().createServer((request, response) => this.serve(request, response));
    server.requestTimeout = TIMEOUT_MS;
    server.headersTimeout = TIMEOUT_MS;
    server.maxConnections = MAX_CONNECTIONS;
    try {
      // Both families are listed, and each has its own socket.
      await once(server.listen({ port, host: address, ipv6Only: address.includes(':') }), 'listening');
      return server;
    } catch (error) {
      if (hasErrorCode(error, 'EAFNOSUPPORT') || hasErrorCode(error, 'EADDRNOTAVAIL')) return null;
      throw acmeFault('acme_listen', { address, port, reason: reasonOf(error) });
    }
  }

  private serve({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    const answer = method === 'GET' || method === 'HEAD' ? this.answerFor(url) : null;
    response.writeHead(answer === null ? 404 : 200, {
      'Content-Type': 'application/octet-stream',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    });
    response.end(answer ?? '');
  }
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
}
