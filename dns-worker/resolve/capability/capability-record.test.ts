import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  CapabilityTable,
  CapabilityWord,
  createCapabilityTable,
  RecordState,
} from '../../../shared/memory/capability-table.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { Capabilities } from './capabilities.ts';
import type { CapabilityRecord } from './capability-record.ts';

const SERVER = { ip: '192.0.2.1', port: 53 };
const HOUR_MS = 3_600_000;
const COOKIE = Uint8Array.from({ length: 16 }, (_, at) => at + 1);

let clock: TestClock;
let memory: SharedArrayBuffer;
/** One record as seen by two threads. */
let one: CapabilityRecord;
let other: CapabilityRecord;
beforeEach(() => {
  clock = new TestClock();
  memory = createCapabilityTable();
  one = new Capabilities(clock, memory).of(SERVER, 'udp');
  other = new Capabilities(clock, memory).of(SERVER, 'udp');
});

describe('CapabilityRecord of an upstream server, shared by threads', () => {
  test('note() shares a finding about one server with all threads for an hour', () => {
    one.note('case', 'supported');
    one.noteAnswersPerConnection(4);
    expect(other.support).toMatchObject({ case: 'supported', answersPerConnection: 4 });
    const records = new Capabilities(clock, memory);
    expect(records.of({ ...SERVER, port: 5353 }, 'udp').finding('case')).toBe('unknown');
    expect(records.of(SERVER, 'tcp').finding('case')).toBe('unknown');
    expect(records.of({ ...SERVER, ip: '2001:db8::1' }, 'udp').finding('case')).toBe('unknown');
    clock.advance(HOUR_MS);
    expect(other.support).toMatchObject({ case: 'unknown', answersPerConnection: null });
    expect(other.lastFinding('case')).toBe('supported');
  });

  test('strike() disables a feature at the second strike, unless the first was long ago', () => {
    one.strike('cookies', 'silent');
    clock.advance(301_000);
    one.strike('cookies', 'silent');
    expect(other.finding('cookies')).toBe('unknown');
    expect(other.isStruck('cookies')).toBe(true);
    other.strike('cookies', 'silent');
    expect(one.finding('cookies')).toBe('silent');
    expect(one.isStruck('cookies')).toBe(false);
  });

  test('claimPair() grants one pair of probes per second to all threads together', () => {
    expect([one.claimPair(), other.claimPair()]).toEqual([true, false]);
    clock.advance(1001);
    expect([other.claimPair(), one.claimPair()]).toEqual([true, false]);
  });

  test('claimProbes() assigns due probes to one thread, and to another thread after 30 s without a result', () => {
    expect([one.claimProbes(30), other.claimProbes(30)]).toEqual([true, false]);
    clock.advance(30_000);
    expect(other.isProbeDue).toBe(true);
    other.scheduleProbes(60);
    expect(one.isProbeDue).toBe(false);
  });

  test('hasFitSince() is true for any time before the last noteFit()', () => {
    clock.advance(5000);
    const sinceMs = clock.monotonicMs();
    expect(one.hasFitSince('case', sinceMs)).toBe(false);
    one.noteFit('case');
    expect(other.hasFitSince('case', sinceMs)).toBe(true);
    expect(other.hasFitSince('case', sinceMs + 1000)).toBe(false);
  });

  test('cookie() is replaced if a thread died while it was writing the cookie', () => {
    const first = one.cookie();
    one.learnCookie(COOKIE, first);
    new Int32Array(memory)[CapabilityWord.COOKIE_SEQUENCE]! += 1;
    const next = one.cookie();
    expect(next).toHaveLength(8);
    expect([...next]).not.toEqual([...first]);
    expect([...other.cookie()]).toEqual([...next]);
  });

  test('cookie() is equal in all threads, includes the server cookie once known, and is replaced after a day', () => {
    const first = one.cookie();
    expect(first).toHaveLength(8);
    expect([...other.cookie()]).toEqual([...first]);
    other.learnCookie(COOKIE, first);
    expect([...one.cookie()]).toEqual([...first, ...COOKIE]);
    one.learnCookie(COOKIE.subarray(0, 8), new Uint8Array(8));
    expect(one.cookie()).toHaveLength(24);
    clock.advance(24 * HOUR_MS);
    expect(one.cookie()).toHaveLength(8);
    expect([...one.cookie()]).not.toEqual([...first]);
  });
});

describe('Capabilities of upstream servers', () => {
  test('of() distinguishes servers with the same link-local address on different interfaces', () => {
    const records = new Capabilities(clock, memory);
    const on = (name: string) => records.of({ ip: `fe80::1%${name}`, port: 53 }, 'udp');
    on('eth0').note('tcp', 'refused');
    expect([on('eth0').finding('tcp'), on('eth1').finding('tcp')]).toEqual(['refused', 'unknown']);
  });

  test('of() skips a record whose thread died while it wrote the key', () => {
    const states = new Int32Array(memory);
    const second = CapabilityTable.RECORD_WORDS + CapabilityWord.STATE;
    states[second] = RecordState.TAKEN;
    const next = { ...SERVER, port: 5353 };
    new Capabilities(clock, memory).of(next, 'udp').note('tcp', 'refused');
    expect(new Capabilities(clock, memory).of(next, 'udp').finding('tcp')).toBe('refused');
    expect(Atomics.load(states, second)).toBe(RecordState.LOST);
  });

  test('of() gives servers beyond the size of the shared table a record that only their thread uses', () => {
    const records = new Capabilities(clock, memory);
    for (let port = 1; port <= 600; port++) records.of({ ...SERVER, port }, 'udp').note('tcp', 'supported');
    expect(records.of({ ...SERVER, port: 1 }, 'udp').finding('tcp')).toBe('supported');
    expect(records.of({ ...SERVER, port: 600 }, 'udp').finding('tcp')).toBe('unknown');
  });
});
