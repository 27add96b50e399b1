import { describe, expect, test } from '@jest/globals';
import type { StatusEvent } from '../../../../../shared/api/policy/status-api.ts';
import { Connection } from './connection.ts';
import type { ConnectionState } from './connection.ts';

const EVENT = {} as StatusEvent;

/** A server and its network, with a clock that the test advances. */
class Server {
  nowMs = 0;
  /** Reaction to a stream or a request: respond, send an error, refuse the connection, or stay silent. */
  mode: 'up' | 'refusing' | 'stopped' | 'silent' = 'up';
  follows = 0;
  probes = 0;
  backs = 0;
  readonly states: ConnectionState[] = [];
  readonly connection: Connection;
  private readonly timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  private endStream: (() => void) | null = null;

  constructor() {
    this.connection = new Connection({
      follow: (signal, onEvent) => this.follow(signal, onEvent),
      probe: (signal) => {
        this.probes++;
        return this.mode === 'up' || this.mode === 'refusing' ? Promise.resolve() : this.noAnswer(signal);
      },
      onEvent: () => undefined,
      onState: (state) => this.states.push(state),
      onBack: () => this.backs++,
      nowMs: () => this.nowMs,
      later: (run, ms) => this.later(run, ms),
    });
  }

  get kind(): ConnectionState['kind'] | undefined {
    return this.states.at(-1)?.kind;
  }

  /** Ends the stream, as a stopping process does. */
  end(): void {
    this.endStream?.();
  }

  /** Advances the clock in steps that are short enough for every timer. */
  async pass(ms: number): Promise<void> {
    for (const end = this.nowMs + ms; this.nowMs < end;) {
      this.nowMs += 100;
      for (const timer of [...this.timers].filter(({ atMs }) => atMs <= this.nowMs)) {
        if (this.timers.delete(timer)) timer.run();
      }
      await settled();
    }
  }

  private later(run: () => void, ms: number): () => void {
    const timer = { atMs: this.nowMs + ms, run };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  private async follow(
    signal: AbortSignal,
    onEvent: (event: StatusEvent | null) => void,
  ): Promise<'ended' | 'refused'> {
    this.follows++;
    if (this.mode === 'refusing') return 'refused';
    if (this.mode !== 'up') return this.noAnswer(signal);
    onEvent(EVENT);
    return new Promise((resolve, reject) => {
      let stop = (): void => undefined;
      const beat = (): void => {
        if (this.mode === 'up') onEvent(null);
        stop = this.later(beat, 1_000);
      };
      stop = this.later(beat, 1_000);
      this.endStream = () => {
        stop();
        resolve('ended');
      };
      signal.addEventListener('abort', () => {
        stop();
        reject(new Error('aborted'));
      });
    });
  }

  private noAnswer(signal: AbortSignal): Promise<never> {
    if (this.mode === 'stopped') return Promise.reject(new Error('refused'));
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  }
}

/** Waits until pending promises have settled. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

describe('Connection, the state of the connection to Weir,', () => {
  test('sends no requests while the event stream delivers data', async () => {
    const server = new Server();
    await server.pass(300_000);
    expect([server.follows, server.probes, server.states]).toEqual([
      1,
      0,
      [{ kind: 'connected', isStreaming: true }],
    ]);
  });

  test('is lost after five seconds of silence, and restored by the next data', async () => {
    const server = new Server();
    await server.pass(10_000);
    server.mode = 'silent';
    await server.pass(5_000);
    expect(server.states.at(-1)).toEqual({ kind: 'lost', sinceMs: 10_000 });
    server.mode = 'up';
    await server.pass(5_000);
    expect([server.kind, server.backs]).toEqual(['connected', 1]);
  });

  test('is lost at once when the stream ends and Weir does not respond, and retries at growing intervals', async () => {
    const server = new Server();
    await settled();
    server.mode = 'stopped';
    server.end();
    await settled();
    expect([server.kind, server.probes]).toEqual(['lost', 1]);
    await server.pass(60_000);
    expect([server.follows > 5, server.follows < 12, server.probes]).toEqual([true, true, 1]);
    const before = server.follows;
    server.mode = 'up';
    server.connection.check();
    await settled();
    expect([server.kind, server.follows, server.backs]).toEqual(['connected', before + 1, 1]);
  });

  test('reopens a stream that ended while Weir still responds, without entering the state "lost"', async () => {
    const server = new Server();
    await settled();
    server.end();
    await server.pass(1_000);
    expect([server.follows, server.probes, server.backs]).toEqual([2, 1, 0]);
    expect(server.states.some(({ kind }) => kind === 'lost')).toBe(false);
  });

  test('is connected without a stream if the server rejects the stream', async () => {
    const server = new Server();
    server.mode = 'refusing';
    server.connection.check();
    await server.pass(3_000);
    expect(server.states.at(-1)).toEqual({ kind: 'connected', isStreaming: false });
  });

  test('checks the connection at once after a failed request', async () => {
    const server = new Server();
    await server.pass(10_000);
    server.mode = 'stopped';
    server.connection.check();
    await settled();
    expect(server.kind).toBe('lost');
  });

  test('keeps no stream open while the page is hidden, and checks the connection at once when the page is visible', async () => {
    const server = new Server();
    await settled();
    server.connection.see(false);
    server.mode = 'stopped';
    await server.pass(600_000);
    expect([server.follows, server.probes, server.kind]).toEqual([1, 0, 'connected']);
    server.connection.see(true);
    await settled();
    expect(server.kind).toBe('lost');
  });

  test('sends no requests after it was closed with close()', async () => {
    const server = new Server();
    await settled();
    server.connection.close();
    await server.pass(60_000);
    expect([server.follows, server.probes]).toEqual([1, 0]);
  });
});
