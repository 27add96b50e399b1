import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { BlockGatherer } from '../store/block-gatherer.ts';
import { OwnRows } from './own-rows.ts';
import { TailBatch, TailFilter } from './tail-batch.ts';
import { TailLimit, TailStream } from './tail-stream.ts';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await within('the server to close', new Promise((resolve) => server.close(resolve)));
});

/** Opens a stream over a socket; returns it with the text that its reader has received. */
async function open(isAllowed: () => Promise<boolean>) {
  const responses: ServerResponse[] = [];
  server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, agent: false });
  request.on('error', () => undefined); // The connection may end before the head of the response is sent.
  await until(
    'the request',
    () => responses.length,
    (count) => count === 1,
  );
  const filter = new TailFilter({ from: null, to: null });
  const stream = new TailStream(responses[0]!, { holder: null, filter, isAllowed });
  const [answer] = (await within('the head of the stream', once(request, 'response'))) as [IncomingMessage];
  const got = { text: '' };
  answer.setEncoding('utf8').on('data', (text: string) => (got.text += text));
  return { stream, got };
}

function tick(stream: TailStream, times: number): void {
  for (let i = 0; i < times; i++) stream.tick('all');
}

/** New rows of a node. */
function batchesOf(count: number): TailBatch[] {
  const own = new OwnRows();
  const gatherer = new BlockGatherer();
  gatherer.tap = own;
  for (let i = 0; i < count; i++) gatherer.append(logRow({}), 'full');
  const origin = { node: 'node-a', runId: 1, hostnameOf: () => null };
  return own.takeAll().blocks.map(({ block, firstSeq }) => new TailBatch(block, { ...origin, firstSeq }));
}

describe('TailStream', () => {
  test('sends a comment after a long silence', async () => {
    const { stream, got } = await open(() => Promise.resolve(true));
    const tickAndLook = async (): Promise<void> => {
      stream.tick('all');
      await new Promise(setImmediate);
    };
    for (let i = 0; i < 150; i++) await tickAndLook();
    await until(
      'the beginning of the stream',
      () => got.text,
      (text) => text.includes('retry'),
    );
    expect(got.text).not.toContain(':\n\n');
    for (let i = 0; i < 3; i++) await tickAndLook();
    await until(
      'the comment',
      () => got.text,
      (text) => text.endsWith('\n\n:\n\n'),
    );
    stream.end();
    await within('the stream to end', stream.ended);
  });

  test('checks its permission at intervals, and sends nothing until the result is known', async () => {
    const answers: ((isAllowed: boolean) => void)[] = [];
    const { stream, got } = await open(() => new Promise((resolve) => answers.push(resolve)));
    tick(stream, 49);
    expect(answers).toHaveLength(0);
    tick(stream, 1);
    expect(answers).toHaveLength(1);
    stream.leaveOut(3);
    tick(stream, 1);
    answers[0]!(true);
    await Promise.resolve();
    expect(got.text).not.toContain('data');
    tick(stream, 1);
    await until(
      'the rows that were left out',
      () => got.text,
      (text) => text.includes('data: {"rows":[],"skipped":3,"nodes":"all"}\n\n'),
    );
    stream.check();
    answers[1]!(false);
    await within('the stream to end', stream.ended);
    tick(stream, 200);
    expect(answers).toHaveLength(2);
  });

  test('loses no row while it waits for the check of its permission', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { stream, got } = await open(() => promise);
    stream.check();
    for (const batch of batchesOf(TailLimit.BURST_ROWS)) stream.offer(batch);
    tick(stream, 1);
    resolve(true);
    await promise;
    tick(stream, 1);
    await until(
      'the rows',
      () => got.text,
      (text) => text.includes('"skipped":0'),
    );
    expect(got.text.match(/"domain"/g)).toHaveLength(TailLimit.BURST_ROWS);
    stream.end();
    await within('the stream to end', stream.ended);
  });

  test('checks its permission again if more sessions end during the check', async () => {
    const answers: ((isAllowed: boolean) => void)[] = [];
    const { stream, got } = await open(() => new Promise((resolve) => answers.push(resolve)));
    for (let i = 0; i < 3; i++) stream.check();
    answers[0]!(true);
    await until(
      'the second question',
      () => answers.length,
      (count) => count === 2,
    );
    stream.leaveOut(1);
    tick(stream, 1);
    answers[1]!(true);
    await Promise.resolve();
    expect(got.text).not.toContain('data');
    tick(stream, 1);
    await until(
      'the rows that were left out',
      () => got.text,
      (text) => text.includes('"skipped":1'),
    );
    expect(answers).toHaveLength(2);
    stream.end();
    await within('the stream to end', stream.ended);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['takes too long', () => new Promise<boolean>(() => undefined)],
  ])('ends if the check of its permission %s', async (_, isAllowed) => {
    const { stream } = await open(isAllowed);
    stream.check();
    tick(stream, 50);
    await within('the stream to end', stream.ended);
  });
});
