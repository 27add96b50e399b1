/**
 * Modules of Node.js that a thread loads when it first needs them: those for encrypted DNS, and node:http, because a
 * plain import of node:http is expensive. Such an import reads every export, and the export `WebSocket` loads undici:
 * 40 ms of CPU time and 3 MiB in each thread.
 */
import type * as http from 'node:http';
import type * as http2 from 'node:http2';
import type * as tls from 'node:tls';

export const nodeHttp = (): typeof http => process.getBuiltinModule('node:http');
export const nodeHttp2 = (): typeof http2 => process.getBuiltinModule('node:http2');
export const nodeTls = (): typeof tls => process.getBuiltinModule('node:tls');
