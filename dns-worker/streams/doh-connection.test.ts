import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { until, within } from '../../test/support/parts/until.ts';
import { DohConnection } from './doh-connection.ts';
import type { DohResponse } from './doh-connection.ts';
import type { StreamClient } from './stream-connection.ts';
import { MAX_QUERIES_IN_FLIGHT } from './stream-connection.ts';

const MESSAGE = new Uint8Array(12);
const TARGET = { kind: 'message', message: MESSAGE, clientKey: '' } as const;
const BODY = { kind: 'body', clientKey: '' } as const;

/** A connection whose queries are not answered, and the way in which it was ended. */
function open(maxQueries?: number) {
  const held: StreamClient[] = [];
  const ends: string[] = [];
  const end = { finish: () => void ends.push('finished'), destroy: () => void ends.push('destroyed') };
  const connection = new DohConnection(end, (_message, client) => void held.push(client), maxQueries);
  return { connection, held, ends };
}

/** A request whose body the test writes, and the statuses of its answers. */
function exchange() {
  const body = new PassThrough();
  const statuses: number[] = [];
  const response: DohResponse = {
    client: new Uint8Array(16),
    end: (status) => void statuses.push(status),
  };
  return { body, statuses, response };
}

describe('DohConnection (one DNS over HTTPS connection)', () => {
  test('stores no more bytes of unfinished request bodies than its limit, however many there are', async () => {
    const { connection, held } = open();
    const requests = Array.from({ length: 40 }, exchange);
    for (const { body, response } of requests) {
      connection.take(BODY, body, response);
      body.write(new Uint8Array(4000));
    }
    await until(
      '24 refused requests',
      () => requests.flatMap(({ statuses }) => statuses).length,
      (count) => count === 24,
    );
    expect(requests.flatMap(({ statuses }) => statuses).every((status) => status === 413)).toBe(true);
    // The bytes read for a request no longer count when it ends.
    const closed = requests.map(({ body }) => once(body, 'close'));
    for (const { body } of requests) body.destroy();
    await within('the bodies to close', Promise.all(closed));
    const next = exchange();
    connection.take(BODY, next.body, next.response);
    next.body.end(MESSAGE);
    await until(
      'the next query',
      () => held.length,
      (count) => count === 1,
    );
    expect(next.statuses).toEqual([]);
  });

  test('closes a connection that keeps sending a body after it was rejected', async () => {
    const { connection, ends } = open();
    const { body, response, statuses } = exchange();
    connection.take({ kind: 'refused', status: 404 }, body, response);
    expect(statuses).toEqual([404]);
    for (let i = 0; i < 40; i++) body.write(new Uint8Array(4000));
    await until(
      'the connection to end',
      () => ends,
      (all) => all.length > 0,
    );
    expect(ends[0]).toBe('destroyed');
  });

  test('finish() accepts no more queries, and closes the connection once queries in flight are answered', () => {
    const { connection, held, ends } = open();
    const [first, late] = [exchange(), exchange()];
    connection.answer(TARGET, MESSAGE, first.response);
    connection.finish();
    connection.answer(TARGET, MESSAGE, late.response);
    expect([ends, late.statuses, held.length]).toEqual([[], [429], 1]);
    held[0]!.send(MESSAGE);
    expect([first.statuses, ends]).toEqual([[200], ['finished']]);
  });

  test('limits the number of queries in flight and in total', () => {
    const maxQueries = 1000;
    const { connection, held, ends } = open(maxQueries);
    for (let i = 0; i < MAX_QUERIES_IN_FLIGHT; i++) connection.answer(TARGET, MESSAGE, exchange().response);
    const over = exchange();
    connection.answer(TARGET, MESSAGE, over.response);
    expect([over.statuses, connection.inFlight]).toEqual([[429], MAX_QUERIES_IN_FLIGHT]);
    for (const query of held.splice(0)) query.drop();
    for (let i = MAX_QUERIES_IN_FLIGHT; i < maxQueries; i++) {
      connection.answer(TARGET, MESSAGE, exchange().response);
      held.pop()!.drop();
    }
    expect(ends).toEqual(['finished']);
  });
});
