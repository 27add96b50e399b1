/**
 * Correct upstreams in every combination: a feature that is refused, echoed, stale, dropped, or supported only by some
 * of the servers behind an address; and TCP that works, is refused or does not answer. These are 177 combinations of
 * cookies, case and EDNS, and 55 of pipelining and idle connections. Some combinations are left out: EDNS that is
 * dropped, which no resolver can distinguish from a dead server for clients that use EDNS; NXDOMAIN for mixed case
 * after the feature was detected; pipelining and idle connections that are echoed, which has no meaning, or without
 * TCP, or with HTTP/2, which has its own mechanism; and a connection that is closed because of a second question before
 * the first is answered, which looks like a server that has just failed.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestAuthority } from '../../support/dns/certificates.ts';
import {
  AT_ONCE,
  ROUNDS,
  runStreamCombination,
  streamCombinations,
  type StreamOutcome,
} from '../../support/dns/stream-combinations.ts';
import {
  type CombinationOutcome,
  combinations,
  runCombination,
  runCombinations,
} from '../../support/dns/upstream-combinations.ts';

const PROGRAM = join(import.meta.dirname, '../../support/dns/upstream-combinations.ts');
/** A public address (RFC 5737) on the loopback interface of a namespace. */
const PUBLIC_IP = '192.0.2.53';
const NAMESPACE = `ip link set lo up && ip address add ${PUBLIC_IP}/32 dev lo && exec "$0" "$@"`;
const COUNT = 60;
const ANSWERED = ['0', '0', '0', '0'];
/** Number of combinations over TCP, over TLS, and over TCP after UDP; HTTPS has fewer combinations. */
const STREAM_COUNT = 12;
const HTTPS_COUNT = 7;
/** Number of concurrent streams: servers, resolvers and their encryption share a thread. */
const STREAMS_AT_ONCE = 3;

/**
 * Expects that every question was answered. A server that refuses EDNS after it has sent OPT records is queried twice.
 */
function expectAnswers(outcomes: readonly CombinationOutcome[]): void {
  const failed = outcomes.filter(({ ended }) => ended.join() !== ANSWERED.join());
  expect(failed).toEqual([]);
  // From the third question on, no question may time out: no query is retransmitted, and no connection is silent.
  const slow = outcomes.filter(
    ({ name, udp, tcp }) =>
      (name.includes('some servers') ? udp > 5 : udp > 2) || (name.includes('silent') && tcp > 0),
  );
  expect(slow).toEqual([]);
}

/**
 * Expects that all questions were answered, except by a server that ignores questions without closing the connection,
 * until this is detected.
 */
function expectAllAnswered(outcomes: readonly StreamOutcome[]): void {
  const failed = outcomes.filter(({ name, answered }) => {
    const known = name.includes('dropped') ? answered.slice(1) : answered;
    return answered.length !== ROUNDS || answered[0] === 0 || known.some((count) => count !== AT_ONCE);
  });
  expect(failed).toEqual([]);
}

interface InNamespace {
  readonly outcomes: CombinationOutcome[];
  readonly streams: StreamOutcome[];
}

describe('a correct upstream, in all combinations of protocol features', () => {
  let authority: TestAuthority;
  let onLoopback: CombinationOutcome[];
  let streams: StreamOutcome[];
  let inNamespace: InNamespace;
  beforeAll(async () => {
    const ip = '127.0.0.1';
    onLoopback = await runCombinations(combinations('on'), (each) => runCombination(each, ip));
    authority = new TestAuthority();
    const certificate = { ...authority.issue(`IP:${ip}`), authority: authority.cert };
    streams = await runCombinations(
      streamCombinations('tcp', 'tls', 'https', 'truncated'),
      (each) => runStreamCombination(each, ip, 'on', certificate),
      STREAMS_AT_ONCE,
    );
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, PUBLIC_IP];
    const { stdout } = await promisify(execFile)('unshare', ['--net', 'sh', '-c', NAMESPACE, ...node]);
    inNamespace = JSON.parse(stdout) as InNamespace;
  }, 300_000);
  afterAll(() => authority.close());

  test('answers every query with hardening enabled', () => {
    expect(onLoopback).toHaveLength(COUNT);
    expectAnswers(onLoopback);
  });

  test('answers every query by default, from the first query on and once hardening is active', () => {
    expect(inNamespace.outcomes).toHaveLength(COUNT + COUNT - 3);
    expectAnswers(inNamespace.outcomes);
  });

  test('answers concurrent queries over TCP, TLS, HTTPS, and TCP after UDP', () => {
    expect(streams).toHaveLength(3 * STREAM_COUNT + HTTPS_COUNT);
    expectAllAnswered(streams);
    expect(inNamespace.streams).toHaveLength(STREAM_COUNT);
    expectAllAnswered(inNamespace.streams);
  });
});
