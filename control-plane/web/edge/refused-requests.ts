/**
 * Answers input that node:http cannot parse as a request, or that arrives too late: problem details, then the
 * connection ends.
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Problem, ProblemCode } from '../../../shared/api/problem-details.ts';
import { nodeHttp } from '../../../shared/lazy-builtins.ts';
import { MAX_HEAD_BYTES } from './message-check.ts';
import { contentPolicy } from './security-headers.ts';
import { endUnread } from './unread-bodies.ts';

/** An error of the parser, or of Node's check for slow clients. */
interface RequestFault extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

type Refusal = readonly [status: number, code: ProblemCode, detail: string];

const TARGET_TOO_LONG: Refusal = [
  414,
  'too_large',
  `the request header must not exceed ${MAX_HEAD_BYTES} bytes, and its target must be shorter`,
];
const HEAD_TOO_LARGE: Refusal = [
  431,
  'too_large',
  `the request header must not exceed ${MAX_HEAD_BYTES} bytes`,
];
const LATE: Refusal = [408, 'timeout', 'the request did not arrive in time'];
const UNREADABLE: Refusal = [400, 'malformed', 'the request is not valid HTTP/1.1'];

/**
 * Answers for a server. If the response could be mistaken for the response to another request, the connection is only
 * closed.
 */
export function answerUnreadable(server: HttpServer | HttpsServer): void {
  /** Responses that are being prepared. */
  const underWay = new WeakMap<Socket, Set<ServerResponse>>();
  const refused = new WeakSet<Socket>();
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const ofSocket = underWay.get(socket) ?? new Set();
    underWay.set(socket, ofSocket.add(response));
    response.once('close', () => ofSocket.delete(response));
  });
  server.on('clientError', (fault: RequestFault, socket: Socket) => {
    // After a refusal, further data on the connection is also not a request.
    if (refused.has(socket)) return;
    const refusal = refusalOf(fault);
    if (refusal === null || !socket.writable || !isNext(underWay.get(socket))) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    socket.write(answerText(refusal));
    endUnread(socket);
  });
}

/**
 * Whether the client would take the next response as the response to the faulty input: no response is pending, or only
 * the response to the request whose body is faulty.
 */
function isNext(underWay: ReadonlySet<ServerResponse> = new Set()): boolean {
  const [first] = underWay;
  if (first === undefined) return true;
  return underWay.size === 1 && !first.req.complete && !first.headersSent;
}

/** Null if the client could not read a response: the connection is closed, or does not use HTTP. */
function refusalOf({ code = '', rawPacket }: RequestFault): Refusal | null {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return LATE;
  if (code === 'HPE_HEADER_OVERFLOW') return isAllTarget(rawPacket) ? TARGET_TOO_LONG : HEAD_TOO_LARGE;
  return code.startsWith('HPE_') ? UNREADABLE : null;
}

/** Whether a packet contains only the beginning of a request line. */
function isAllTarget(packet: Buffer | undefined): boolean {
  return packet !== undefined && /^[A-Z]+ [^\s]+$/.test(packet.toString('latin1', 0, MAX_HEAD_BYTES));
}

function answerText([status, code, detail]: Refusal): string {
  const title = nodeHttp().STATUS_CODES[status]!;
  const problem: Problem = { type: 'about:blank', title, status, detail, error: code };
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${contentPolicy()}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
