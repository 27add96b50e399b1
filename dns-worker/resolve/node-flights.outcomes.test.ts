import { expect, test } from '@jest/globals';
import { ClaimArea, createClaimTable } from '../../shared/memory/claim-table.ts';
import { createOutcomeRings, OutcomeRing } from '../../shared/memory/outcome-rings.ts';
import { question } from '../../test/support/dns/built-messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { TestClock } from '../../test/support/parts/test-clock.ts';
import { within } from '../../test/support/parts/until.ts';
import { FlightOutcomes } from './flight-outcomes.ts';
import { type FlightOutcome, NodeFlights } from './node-flights.ts';
import { QuestionClaims } from './question-claims.ts';
import type { Question, Resolution } from './resolver.ts';

/** The flights of one thread, and the outcome of each of its questions. */
class Thread {
  readonly flights: NodeFlights;
  readonly asked: ((resolution: Resolution) => void)[] = [];

  constructor(worker: number, memory: SharedArrayBuffer, outcomes: SharedArrayBuffer) {
    const claims = new QuestionClaims(
      { memory, worker, clock: new TestClock(), longestMs: 3000 },
      ClaimArea.CLIENTS,
    );
    const shared = { claims, outcomes: new FlightOutcomes({ memory: outcomes, worker, settingsVersion: 1 }) };
    this.flights = new NodeFlights(shared, 90_000, new MemoryLogger());
  }

  resolve(asked: Question): Promise<FlightOutcome> {
    const taker = { resolve: (_: Question, done: (resolution: Resolution) => void) => this.asked.push(done) };
    const outcome = new Promise<FlightOutcome>((done) => this.flights.resolve(taker, 0, asked, done));
    return within('the outcome', outcome);
  }
}

const threads = (): [Thread, Thread] => {
  const [claims, outcomes] = [createClaimTable(1), createOutcomeRings(2)];
  return [new Thread(0, claims, outcomes), new Thread(1, claims, outcomes)];
};

/** An answer with this many bytes. */
const answerOf = (bytes: number): Resolution => ({
  kind: 'answer',
  answer: {
    ...{ rcode: 0, authenticated: false, answerCount: 1, authorityCount: 0, minTtlSecs: 0, negative: false },
    ...{ answersLength: bytes, ecsScope: 0, body: new Uint8Array(bytes).fill(7) },
    ttlOffsets: Uint16Array.of(6),
  },
  upstream: 3,
});

test('NodeFlights.resolve() returns the answer that another thread received unchanged', async () => {
  const [one, other] = threads();
  const own = one.resolve(question('a.example', 'A'));
  const waiting = other.resolve(question('a.example', 'A'));
  one.asked[0]!(answerOf(65_000));
  expect(await own).toEqual(answerOf(65_000));
  expect(await waiting).toEqual({ kind: 'elsewhere', resolution: answerOf(65_000) });
  expect(other.asked).toHaveLength(0);
});

test('NodeFlights.resolve() returns many consecutive answers of another thread', async () => {
  const [one, other] = threads();
  for (let i = 0; i < 3 * OutcomeRing.DESCRIPTORS; i++) {
    const asked = question(`n${i}.example`, 'A');
    void one.resolve(asked);
    const waiting = other.resolve(asked);
    one.asked.shift()!(answerOf(5000 + i));
    expect(await waiting).toEqual({ kind: 'elsewhere', resolution: answerOf(5000 + i) });
  }
});

test('NodeFlights.resolve() returns no answer that was overwritten before it was read', async () => {
  const [one, other] = threads();
  const names = Array.from({ length: 12 }, (_, i) => question(`n${i}.example`, 'A'));
  for (const asked of names) void one.resolve(asked);
  const waiting = names.map((asked) => other.resolve(asked));
  // All questions end before a waiting thread has checked.
  for (const end of one.asked) end(answerOf(60_000));
  const outcomes = await Promise.all(waiting);
  const passedOn = outcomes.map((each) => each.kind === 'elsewhere' && each.resolution !== null);
  expect(passedOn).toEqual([...Array<boolean>(8).fill(false), ...Array<boolean>(4).fill(true)]);
});

test('NodeFlights.close() does not share the failure of its queries with other threads', async () => {
  const [one, other] = threads();
  const own = one.resolve(question('a.example', 'A'));
  const waiting = other.resolve(question('a.example', 'A'));
  one.flights.close();
  expect(await own).toMatchObject({ kind: 'failed', reason: 'network' });
  one.asked[0]!({ kind: 'failed', reason: 'network', rcode: 2, upstream: -1 });
  expect(await waiting).toEqual({ kind: 'elsewhere', resolution: null });
});
