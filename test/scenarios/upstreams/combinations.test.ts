/**
 * Honest upstreams in every combination: a feature that is refused, echoed, stale, dropped, or handled by some of the
 * servers behind an address only; and TCP that works, is refused or is silent. Left out: EDNS that is dropped, which no
 * resolver can distinguish from a dead server for clients that use EDNS; and NXDOMAIN to mixed case once that is earned.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CombinationOutcome,
  combinations,
  runCombinations,
} from '../../support/dns/upstream-combinations.ts';

const PROGRAM = join(import.meta.dirname, '../../support/dns/upstream-combinations.ts');
/** A public address (RFC 5737) on the loopback interface of a namespace. */
const PUBLIC_IP = '192.0.2.53';
const NAMESPACE = `ip link set lo up && ip address add ${PUBLIC_IP}/32 dev lo && exec "$0" "$@"`;
const COUNT = 60;
const ANSWERED = ['0', '0', '0', '0'];

/** A server that refuses EDNS after it has sent OPT records is asked twice. */
function expectAnswers(outcomes: readonly CombinationOutcome[]): void {
  const failed = outcomes.filter(({ ended }) => ended.join() !== ANSWERED.join());
  expect(failed).toEqual([]);
  // From the third question on nothing is waited for: there is no second copy of the query, and no silent connection.
  const slow = outcomes.filter(
    ({ name, udp, tcp }) =>
      (name.includes('some servers') ? udp > 5 : udp > 2) || (name.includes('silent') && tcp > 0),
  );
  expect(slow).toEqual([]);
}

describe('an honest upstream, in all combinations', () => {
  let onLoopback: CombinationOutcome[];
  let inNamespace: CombinationOutcome[];
  beforeAll(async () => {
    onLoopback = await runCombinations(combinations('on'), '127.0.0.1');
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', PROGRAM, PUBLIC_IP];
    const { stdout } = await promisify(execFile)('unshare', ['--net', 'sh', '-c', NAMESPACE, ...node]);
    inNamespace = JSON.parse(stdout) as CombinationOutcome[];
  }, 120_000);

  test('answers every question with hardening on', () => {
    expect(onLoopback).toHaveLength(COUNT);
    expectAnswers(onLoopback);
  });

  test('answers every question by default, from its first question on and once it has earned hardening', () => {
    expect(inNamespace).toHaveLength(COUNT + COUNT - 3);
    expectAnswers(inNamespace);
  });
});
