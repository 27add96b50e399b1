import { describe, expect, test } from '@jest/globals';
import { question } from '../../../test/support/dns/built-messages.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { until } from '../../../test/support/parts/until.ts';
import type { Exchange, ExchangeOutcome } from './exchange.ts';
import { ownRecord } from '../capability/capabilities.ts';
import { LearnedLimits } from '../connections/learned-limits.ts';
import { ConnectionTraffic } from '../connections/connection-traffic.ts';
import { type ConnectionEvents, KeptConnections } from './kept-connections.ts';
import { isSilent, type KeptConnection, KeptQuery } from './kept-query.ts';

type TestQuery = KeptQuery<TestConnection>;

/** A question as its caller sees it. */
interface TestQuestion {
  /** One query for each connection on which the question is sent. */
  readonly queries: TestQuery[];
  readonly outcomes: ExchangeOutcome[];
  readonly exchange: Exchange;
}

/** A connection that keeps its questions until the test removes them. */
class TestConnection implements KeptConnection<TestQuery> {
  readonly capacity: number;
  readonly events: ConnectionEvents<TestQuery>;
  readonly traffic: ConnectionTraffic;
  readonly carried: TestQuery[] = [];
  readonly abandoned: TestQuery[] = [];
  isOpen = true;

  constructor(capacity: number, clock: TestClock, events: ConnectionEvents<TestQuery>) {
    this.capacity = capacity;
    this.traffic = new ConnectionTraffic(clock);
    this.events = events;
  }

  get inFlight(): number {
    return this.carried.length;
  }

  send(query: TestQuery): void {
    query.connection = this;
    this.traffic.noteSent(query);
    this.carried.push(query);
  }

  abandon(query: TestQuery): void {
    this.abandoned.push(query);
  }

  destroy(): void {
    this.isOpen = false;
  }

  /** Delivers the answer to the first question. */
  answer(): void {
    const query = this.carried.shift()!;
    this.traffic.noteReceived();
    query.connection = null;
    this.events.left(query);
    query.done(ANSWERED);
  }

  /** Ends with all its questions. */
  lose(hasProgressed: boolean): void {
    this.isOpen = false;
    this.events.closed();
    for (const query of this.carried.splice(0)) {
      query.connection = null;
      this.events.left(query);
      this.events.lost(query, 'ECONNRESET', hasProgressed);
    }
  }
}

/** An outcome that is not a loss. */
const ANSWERED: ExchangeOutcome = { kind: 'truncated' };

function open(max: number, capacity: number) {
  const made: TestConnection[] = [];
  const clock = new TestClock();
  const limits = new LearnedLimits(clock, ownRecord(clock));
  const all = new KeptConnections<TestQuery, TestConnection>({
    ...{ max, clock, limits },
    open: (events) => {
      const connection = new TestConnection(capacity, clock, events);
      made.push(connection);
      return connection;
    },
  });
  /** Resolves a question of a network. */
  const ask = (network?: string): TestQuestion => {
    const asked = { ...question('www.test', 'A'), ...(network === undefined ? {} : { network }) };
    const queries: TestQuery[] = [];
    const outcomes: ExchangeOutcome[] = [];
    const exchange = all.ask(
      (ended) => {
        queries.push(new KeptQuery(asked, ended));
        return queries.at(-1)!;
      },
      (outcome) => outcomes.push(outcome),
    );
    return { queries, outcomes, exchange };
  };
  return { all, made, ask, clock, limits };
}

describe('KeptConnections.ask(), which sends a query,', () => {
  test('uses a connection with a free place before it opens a new connection', () => {
    const { made, ask } = open(2, 2);
    for (const network of ['a', 'b', 'c']) ask(network);
    expect(made.map(({ carried }) => carried.length)).toEqual([2, 1]);
  });

  test('queues a query if all connections are full, and sends it when a connection has a free place', () => {
    const { made, ask } = open(1, 2);
    ask('a');
    const second = ask('b');
    const third = ask('c');
    expect([second, third].map(({ exchange }) => exchange.wasQueued)).toEqual([false, true]);
    made[0]!.answer();
    expect(made[0]!.carried).toEqual([...second.queries, ...third.queries]);
    expect(made).toHaveLength(1);
  });

  test('leaves half of the places to networks other than the network of the query', () => {
    const { made, ask } = open(1, 4);
    const queries = Array.from({ length: 4 }, () => ask('greedy'));
    expect(made[0]!.carried).toEqual(queries.slice(0, 2).flatMap((asked) => asked.queries));
    const other = ask('other');
    expect(made[0]!.carried).toContain(other.queries[0]);
    made[0]!.answer();
    expect(made[0]!.carried).toContain(queries[2]!.queries[0]);
  });

  test('fails a query when KeptConnections is closed, after the call has returned', async () => {
    const { all, made, ask } = open(1, 1);
    ask('a');
    const waiting = ask('b');
    all.close();
    const late = ask('c');
    expect([made[0]!.isOpen, late.outcomes.length]).toEqual([false, 0]);
    await Promise.resolve();
    expect(late.outcomes).toEqual([{ kind: 'failed', reason: 'network', detail: 'closed' }]);
    made[0]!.answer();
    expect([made[0]!.carried, waiting.outcomes]).toEqual([[], []]);
  });

  test('fails a query of a network that has used its share of the queue', async () => {
    const { ask } = open(1, 1);
    ask('a');
    const waiting = Array.from({ length: 8192 }, () => ask('b'));
    const beyond = ask('b');
    await Promise.resolve();
    expect(beyond.outcomes).toEqual([
      { kind: 'failed', reason: 'local', detail: 'too many queries in flight' },
    ]);
    expect(waiting.at(-1)!.outcomes).toEqual([]);
    expect(ask('c').exchange.wasQueued).toBe(true);
  });
});

describe('cancelling a query of KeptConnections.ask()', () => {
  test('removes the query from the queue', () => {
    const { made, ask } = open(1, 1);
    const first = ask('a');
    const waiting = ask('b');
    waiting.exchange.cancel();
    made[0]!.answer();
    expect(made[0]!.carried).toEqual([]);
    expect([first.outcomes, waiting.outcomes]).toEqual([[ANSWERED], []]);
  });

  test('makes the connection abandon the query, and reports whether the query had to wait', () => {
    const { made, ask } = open(1, 1);
    const [first, waiting] = [ask('a'), ask('b')];
    expect([first, waiting].map(({ exchange }) => exchange.wasQueued)).toEqual([false, true]);
    first.exchange.cancel();
    expect(made[0]!.abandoned).toEqual(first.queries);
    expect(first.queries[0]!.connection).toBeNull();
  });
});

describe('isSilent(), whether a connection seems dead,', () => {
  test.each([
    ['brought nothing ever', { received: 0, before: 0, waitedMs: 1 }, true],
    ['brought something, but nothing for a second', { received: 3, before: 3, waitedMs: 1000 }, true],
    ['brought something, and was asked just now', { received: 3, before: 3, waitedMs: 999 }, false],
    ['brought another answer since', { received: 4, before: 3, waitedMs: 5000 }, false],
  ] as const)('is true for a connection that %s', (_what, { received, before, waitedMs }, expected) => {
    const clock = new TestClock();
    const traffic = new ConnectionTraffic(clock);
    traffic.received = received;
    const sent = { sentMs: clock.monotonicMs(), receivedBefore: before, idleMs: 0 };
    expect(isSilent(sent, traffic, sent.sentMs + waitedMs)).toBe(expected);
  });
});

describe('ConnectionEvents, the callbacks of connections,', () => {
  test.each([
    ['brought nothing before: once', false, 2],
    ['brought answers before: 15 times', true, 16],
  ])('lost() sends a query again whose connection %s', (_what, hasProgressed, connections) => {
    const { made, ask } = open(1, 1);
    const { outcomes } = ask('a');
    for (let losses = 0; losses < connections; losses++) {
      expect([made.length, outcomes]).toEqual([losses + 1, []]);
      made.at(-1)!.lose(hasProgressed);
    }
    expect(made).toHaveLength(connections);
    expect(outcomes).toEqual([{ kind: 'failed', reason: 'network', detail: 'ECONNRESET' }]);
  });

  test('closed() allows a new connection to be opened', () => {
    const { made, ask } = open(1, 1);
    const first = ask('a');
    const waiting = ask('b');
    made[0]!.isOpen = false;
    made[0]!.answer();
    expect([made.length, first.outcomes]).toEqual([1, [ANSWERED]]);
    made[0]!.events.closed();
    expect(made[1]!.carried).toEqual(waiting.queries);
  });

  test('changed() sends queued queries, as far as there are places', () => {
    const { made, ask } = open(1, 1);
    ask('a');
    const waiting = ask('b');
    Object.assign(made[0]!, { capacity: 3 });
    made[0]!.events.changed();
    expect(made[0]!.carried).toContain(waiting.queries[0]);
  });
});

describe('resend() for a query in flight', () => {
  test('does nothing while its connection delivers answers, or while the query waits for a place', () => {
    const { made, ask } = open(2, 2);
    const [first, second] = [ask('a'), ask('b')];
    made[0]!.answer();
    second.exchange.resend();
    expect([made.length, first.outcomes, second.queries.length]).toEqual([1, [ANSWERED], 1]);
  });

  test("sends a second copy on a new connection if the query's connection delivered other answers, but none lately", () => {
    const { made, ask, clock } = open(2, 2);
    const [first, leftOut] = [ask('a'), ask('b')];
    made[0]!.answer();
    clock.advance(200);
    leftOut.exchange.resend();
    expect([made.length, first.outcomes, leftOut.queries.length]).toEqual([2, [ANSWERED], 2]);
  });

  test("sends a second copy on a new connection if the query's connection is silent, and uses the first answer", () => {
    const { made, ask, clock } = open(1, 4);
    ask('a');
    made[0]!.answer();
    clock.advance(2000);
    const silent = ask('a');
    silent.exchange.resend();
    expect(made.map(({ carried }) => carried.length)).toEqual([1, 1]);
    expect(ask('b').queries[0]!.connection).toBe(made[1]);
    made[1]!.answer();
    expect(silent.outcomes).toEqual([ANSWERED]);
  });

  test('closes a silent connection when a new connection has answered, and moves its other queries to the new connection', async () => {
    const { made, ask, clock } = open(1, 64);
    ask('a');
    made[0]!.answer();
    clock.advance(2000);
    const [first, second] = [ask('a'), ask('b')];
    first.exchange.resend();
    made[1]!.answer();
    expect(second.queries[0]!.connection).toBe(made[0]);
    await until('the silent connection to end', () => !made[0]!.isOpen);
    made[0]!.lose(true);
    expect(made[1]!.carried).toContain(second.queries[0]);
  });

  test('waits for the remaining connection when one is lost, and fails when both are lost', () => {
    const { made, ask } = open(1, 4);
    const { exchange, outcomes } = ask('a');
    exchange.resend();
    made[1]!.carried.splice(0)[0]!.done({ kind: 'failed', reason: 'network', detail: 'ECONNRESET' });
    expect(outcomes).toEqual([]);
    made[0]!.answer();
    expect(outcomes).toEqual([ANSWERED]);
  });

  test('opens at most twice the usual number of connections', () => {
    const { made, ask } = open(2, 64);
    const { exchange } = ask('a');
    for (let i = 0; i < 10; i++) exchange.resend();
    expect(made).toHaveLength(4);
  });
});

describe('connections to a server with learned limits', () => {
  test('are used for no more queries than the server answers per connection', () => {
    const { made, ask, limits, clock } = open(4, 8);
    limits.noteEarlyEnd(2, clock.monotonicMs(), clock.monotonicMs());
    limits.noteEarlyEnd(2, clock.monotonicMs(), clock.monotonicMs());
    for (const network of ['a', 'b', 'c']) ask(network);
    expect(made.map(({ carried }) => carried.length)).toEqual([2, 1]);
    made[0]!.answer();
    made[0]!.answer();
    for (const network of ['a', 'b']) ask(network);
    expect(made.map(({ isOpen }) => isOpen)).toEqual([false, true, true]);
  });

  test('are not used after the idle time at which an earlier connection became silent', () => {
    const { made, ask, limits, clock } = open(4, 8);
    ask('a');
    made[0]!.answer();
    limits.noteSilence({ sentMs: 0, receivedBefore: 0, idleMs: 2000 }, made[0]!.traffic);
    clock.advance(999);
    ask('a');
    made[0]!.answer();
    clock.advance(1000);
    ask('a');
    expect(made.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });
});
