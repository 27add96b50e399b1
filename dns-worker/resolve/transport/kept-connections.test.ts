import { describe, expect, test } from '@jest/globals';
import { question } from '../../../test/support/dns/built-messages.ts';
import type { Exchange, ExchangeOutcome } from './exchange.ts';
import {
  type ConnectionEvents,
  isSilent,
  type KeptConnection,
  KeptConnections,
  type KeptQuery,
} from './kept-connections.ts';

class TestQuery implements KeptQuery<TestConnection> {
  readonly question;
  exchange: Exchange | undefined;
  readonly outcomes: ExchangeOutcome[] = [];
  readonly done = (outcome: ExchangeOutcome): void => void this.outcomes.push(outcome);
  connection: TestConnection | null = null;
  sentMs = 0;
  receivedBefore = 0;
  retried = false;
  wasQueued = false;

  constructor(network?: string) {
    this.question = { ...question('www.test', 'A'), ...(network === undefined ? {} : { network }) };
  }
}

/** A connection that carries what it is given until the test takes it off. */
class TestConnection implements KeptConnection<TestQuery> {
  readonly capacity: number;
  readonly events: ConnectionEvents<TestQuery>;
  readonly carried: TestQuery[] = [];
  readonly abandoned: TestQuery[] = [];
  isDestroyed = false;

  constructor(capacity: number, events: ConnectionEvents<TestQuery>) {
    this.capacity = capacity;
    this.events = events;
  }

  get hasRoom(): boolean {
    return this.carried.length < this.capacity;
  }

  send(query: TestQuery): void {
    query.connection = this;
    this.carried.push(query);
  }

  abandon(query: TestQuery): void {
    this.abandoned.push(query);
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  /** Takes the first question off. */
  answer(): void {
    this.events.left(this.carried.shift()!);
  }
}

function open(max: number, capacity: number) {
  const made: TestConnection[] = [];
  const all = new KeptConnections<TestQuery, TestConnection>(max, (events) => {
    const connection = new TestConnection(capacity, events);
    made.push(connection);
    return connection;
  });
  /** Asks a question of a network. */
  const ask = (network?: string): TestQuery => {
    const query = new TestQuery(network);
    query.exchange = all.ask(query);
    return query;
  };
  return { all, made, ask };
}

describe('KeptConnections.ask()', () => {
  test('uses a connection that has room before it makes another', () => {
    const { made, ask } = open(2, 2);
    for (const network of ['a', 'b', 'c']) ask(network);
    expect(made.map(({ carried }) => carried.length)).toEqual([2, 1]);
  });

  test('has a question wait where all are full, and sends it when one has room', () => {
    const { made, ask } = open(1, 2);
    ask('a');
    const second = ask('b');
    const third = ask('c');
    expect([second.wasQueued, third.wasQueued]).toEqual([false, true]);
    made[0]!.answer();
    expect(made[0]!.carried).toEqual([second, third]);
    expect(made).toHaveLength(1);
  });

  test('leaves half of the room to others than the network that asks', () => {
    const { made, ask } = open(1, 4);
    const queries = Array.from({ length: 4 }, () => ask('greedy'));
    expect(made[0]!.carried).toEqual(queries.slice(0, 2));
    const other = ask('other');
    expect(made[0]!.carried).toContain(other);
    made[0]!.answer();
    expect(made[0]!.carried).toContain(queries[2]);
  });

  test('fails a question when it is closed, after it has returned', async () => {
    const { all, made, ask } = open(1, 1);
    ask('a');
    const waiting = ask('b');
    all.close();
    const late = ask('c');
    expect([made[0]!.isDestroyed, late.outcomes.length]).toEqual([true, 0]);
    await Promise.resolve();
    expect(late.outcomes).toEqual([{ kind: 'failed', reason: 'network', detail: 'closed' }]);
    made[0]!.answer();
    expect([made[0]!.carried, waiting.outcomes]).toEqual([[], []]);
  });

  test('fails a question of a network that has its share of the line', async () => {
    const { ask } = open(1, 1);
    ask('a');
    const waiting = Array.from({ length: 8192 }, () => ask('b'));
    const beyond = ask('b');
    await Promise.resolve();
    expect(beyond.outcomes).toEqual([
      { kind: 'failed', reason: 'local', detail: 'too many questions under way' },
    ]);
    expect(waiting.at(-1)!.outcomes).toEqual([]);
    expect(ask('c').wasQueued).toBe(true);
  });
});

describe('the exchange of KeptConnections.ask()', () => {
  test('takes a question that is cancelled out of the line', () => {
    const { made, ask } = open(1, 1);
    const first = ask('a');
    const waiting = ask('b');
    waiting.exchange!.cancel();
    made[0]!.answer();
    expect(made[0]!.carried).toEqual([]);
    expect([first.outcomes, waiting.outcomes]).toEqual([[], []]);
  });

  test('has the connection give up a question in flight, and tells whether it had to wait', () => {
    const { made, ask } = open(1, 1);
    const [first, waiting] = [ask('a'), ask('b')];
    expect([first.exchange!.wasQueued, waiting.exchange!.wasQueued]).toEqual([false, true]);
    first.exchange!.cancel();
    expect([made[0]!.abandoned, first.connection]).toEqual([[first], null]);
    expect(made[0]!.carried).toEqual([first]);
  });
});

describe('isSilent()', () => {
  test.each([
    ['brought nothing ever', { received: 0, before: 0, waitedMs: 1 }, true],
    ['brought something, but nothing for a second', { received: 3, before: 3, waitedMs: 1000 }, true],
    ['brought something, and was asked just now', { received: 3, before: 3, waitedMs: 999 }, false],
    ['brought another answer meanwhile', { received: 4, before: 3, waitedMs: 5000 }, false],
  ] as const)('speaks of a connection that %s', (_what, { received, before, waitedMs }, expected) => {
    const query = Object.assign(new TestQuery(), { sentMs: 100, receivedBefore: before });
    expect(isSilent(query, received, 100 + waitedMs)).toBe(expected);
  });
});

describe('ConnectionEvents', () => {
  test('refused() sends a question once more, and fails it the second time', () => {
    const { made, ask } = open(2, 1);
    const query = ask('a');
    const end = (connection: TestConnection): void => {
      connection.carried.length = 0;
      connection.events.closed();
      connection.events.left(query);
      connection.events.refused(query, 'ECONNRESET');
    };
    end(made[0]!);
    expect([made.length, made[1]!.carried, query.outcomes]).toEqual([2, [query], []]);
    end(made[1]!);
    expect(query.outcomes).toEqual([{ kind: 'failed', reason: 'network', detail: 'ECONNRESET' }]);
  });

  test('closed() makes room for a new connection', () => {
    const { made, ask } = open(1, 1);
    const first = ask('a');
    const waiting = ask('b');
    made[0]!.events.left(first);
    expect(made).toHaveLength(1);
    made[0]!.events.closed();
    expect(made[1]!.carried).toEqual([waiting]);
  });

  test('changed() sends what waits, as far as there is room now', () => {
    const { made, ask } = open(1, 1);
    ask('a');
    const waiting = ask('b');
    Object.assign(made[0]!, { capacity: 3 });
    made[0]!.events.changed();
    expect(made[0]!.carried).toContain(waiting);
  });
});
