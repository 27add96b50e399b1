import { describe, expect, test } from '@jest/globals';
import { Tail } from './tail.ts';
import type { Stream, TailEvent, TailState } from './tail.ts';

/** Streams that the test opens, ends and sends events on. */
class Streams {
  readonly opened: (Stream & { readyState: number })[] = [];
  readonly states: TailState[] = [];
  readonly events: TailEvent[] = [];
  reachable: (() => Promise<unknown>)[] = [];
  readonly tail: Tail;

  constructor() {
    this.tail = new Tail({
      open: () => {
        const stream = {
          readyState: 0,
          onopen: null,
          onmessage: null,
          onerror: null,
          close: () => undefined,
        };
        this.opened.push(stream);
        return stream;
      },
      reachable: () => (this.reachable.shift() ?? (() => Promise.resolve()))(),
      onEvent: (event) => this.events.push(event),
      onState: (state) => this.states.push(state),
      wait: () => Promise.resolve(),
    });
  }

  fail(readyState: number): void {
    const stream = this.opened.at(-1)!;
    stream.readyState = readyState;
    stream.onerror?.(new Event('error'));
  }
}

/** Waits until the callbacks of settled promises have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('Tail, the event stream of new rows,', () => {
  test('reports each received row', () => {
    const streams = new Streams();
    const event: TailEvent = { rows: [], skipped: 3, nodes: 'own' };
    streams.opened[0]!.onopen?.(new Event('open'));
    streams.opened[0]!.onmessage?.(new MessageEvent('message', { data: JSON.stringify(event) }));
    expect(streams.states).toEqual(['connecting', 'open']);
    expect(streams.events).toEqual([event]);
  });

  test('lets the browser reconnect if the server accepted the stream before', async () => {
    const streams = new Streams();
    streams.fail(0);
    await settled();
    expect(streams.states.at(-1)).toBe('lost');
    expect(streams.opened).toHaveLength(1);
  });

  test('reopens a rejected stream when the API responds', async () => {
    const streams = new Streams();
    streams.reachable = [() => Promise.reject(new Error('away')), () => Promise.resolve()];
    streams.fail(2);
    await settled();
    expect(streams.reachable).toHaveLength(0);
    expect(streams.opened).toHaveLength(2);
  });

  test('stays closed after close()', async () => {
    const streams = new Streams();
    streams.fail(2);
    streams.tail.close();
    await settled();
    expect(streams.opened).toHaveLength(1);
  });
});
