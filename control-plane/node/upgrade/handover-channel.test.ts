import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { within } from '../../../test/support/parts/until.ts';
import { HandoverChannel, numberOf, textField } from './handover-channel.ts';

const TIMEOUT_MS = 10_000;

describe('HandoverChannel', () => {
  let server: Server;
  let other: Socket;
  let talk: HandoverChannel;

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    talk = new HandoverChannel(connect((server.address() as AddressInfo).port, '127.0.0.1'));
    [other] = await within('the connection', accepted);
    other.on('error', () => undefined);
  });

  afterEach(() => {
    other.destroy();
    talk.end();
    server.close();
  });

  test('returns messages one by one, in whatever pieces their bytes arrive', async () => {
    other.write('{"type":"one"}\n{"type":"tw');
    expect(await talk.next(TIMEOUT_MS)).toEqual({ type: 'one' });
    other.write('o","count":2}\n');
    expect(numberOf(await talk.expect('two', TIMEOUT_MS), 'count')).toBe(2);
  });

  test.each([
    ['ends', '', 'the other process has ended'],
    ['ends in the middle of a message', '{"type":"sock', 'in the middle of a message'],
    ['sends bytes that are not JSON', 'GET / HTTP/1.1\n', 'violates the protocol'],
    ['sends an invalid message', '[1]\n', 'violates the protocol'],
    ['sends too long a message', `{"type":"${'x'.repeat(20_000)}`, 'too long'],
    ['sends a message of another type', '{"type":"three"}\n', 'expected "two", got "three"'],
    ['reports why it failed', '{"type":"failed","reason":"no room"}\n', 'no room'],
  ])('rejects if the other process %s', async (_what, text, reason) => {
    other.end(text);
    await expect(talk.expect('two', TIMEOUT_MS)).rejects.toThrow(reason);
  });

  test('rejects if the other process is silent', async () => {
    await expect(talk.next(20)).rejects.toThrow('silent for 0.02 s');
  });
});

describe('textOf() and numberOf()', () => {
  test('reject fields that are missing or have a wrong type', () => {
    const message = { type: 'sockets', count: '3', ticket: 4, part: 1.5 };
    expect(() => textField(message, 'ticket')).toThrow('message "sockets" has no text "ticket"');
    for (const field of ['count', 'none', 'part'])
      expect(() => numberOf(message, field)).toThrow(`message "sockets" has no number "${field}"`);
  });
});
