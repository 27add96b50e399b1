/** An attack on the API: connections with requests that never end, while another client uses the API. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { repeat } from './attack.ts';
import type { Attack, Target } from './attack.ts';

const ATTACKER = '127.66.0.2';
const HALF_SENT = 500;
const CALL_EVERY_MS = 250;
const OPENED_AGAIN_AFTER_MS = 500;

export const webAttack: Attack = {
  fault: 18,
  name: `${String(HALF_SENT)} half-sent requests from one address, opened again when they are closed`,
  begin,
};

async function begin({ weir }: Target): Promise<() => Promise<string>> {
  const api = await weir.api();
  const open = new Set<Socket>();
  let opened = 0;
  let isOver = false;
  const openOne = (): void => {
    if (isOver) return;
    const socket = connect({ port: weir.webPort, host: '127.0.0.1', localAddress: ATTACKER });
    open.add(socket);
    opened++;
    socket.on('error', () => undefined);
    socket.on('connect', () => socket.write('GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: '));
    socket.on('data', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(openOne, OPENED_AGAIN_AFTER_MS).unref();
    });
  };
  for (let i = 0; i < HALF_SENT; i++) openOne();
  const callsMs: number[] = [];
  let failed = 0;
  const end = repeat(CALL_EVERY_MS, () => {
    const startedAt = performance.now();
    api.call('GET', '/groups').then(
      ({ status }) => (status === 200 ? callsMs.push(performance.now() - startedAt) : failed++),
      () => failed++,
    );
  });
  return async () => {
    end();
    isOver = true;
    for (const socket of open) socket.destroy();
    const slowest = Math.round(Math.max(0, ...callsMs));
    return `${String(opened)} connections; ${String(callsMs.length)} calls of the API, the slowest ${String(slowest)} ms, ${String(failed)} failed`;
  };
}
