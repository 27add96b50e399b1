import { expect, test } from '@jest/globals';
import { query as messageOf } from '../../test/support/dns/dns-message.ts';
import { cookiesAt } from '../../test/support/parts/cookies-of-tests.ts';
import { ParseOutcome } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import { READ_FAILED, readMessage, type ReadOutcome } from './read-message.ts';

const SEEDS = { seedLow: 1, seedHigh: 2 };

function read(message: Uint8Array, cookies = cookiesAt(0)): ReadOutcome {
  const slot = new Uint8Array(2048);
  slot.set(message);
  const query = new Query();
  query.begin(slot, 0, message.length, slot.length);
  return readMessage(query, SEEDS, cookies, false);
}

test('readMessage() reads a query, and rejects a truncated message', () => {
  const message = messageOf('www.example.org', 'A');
  expect(read(message)).toBe(ParseOutcome.OK);
  expect(read(message.subarray(0, message.length - 1))).toBe(ParseOutcome.FORMAT_ERROR);
});

test('readMessage() returns READ_FAILED instead of throwing, so that a bug affects one query of a batch', () => {
  const cookies = cookiesAt(0);
  cookies.read = () => {
    throw new Error('a bug');
  };
  expect(read(messageOf('www.example.org', 'A'), cookies)).toBe(READ_FAILED);
});
