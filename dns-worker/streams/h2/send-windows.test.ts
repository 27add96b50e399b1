import { describe, expect, test } from '@jest/globals';
import { ConnectionFault } from './connection-fault.ts';
import { DEFAULT_WINDOW, MAX_FRAME_SIZE, MAX_WINDOW } from './frames.ts';
import { SendWindows } from './send-windows.ts';

/** Windows, and the payload sizes and flags of the frames that they write. */
function open(maxWaiting = 1_000_000) {
  const written: [stream: number, size: number, flags: number][] = [];
  const windows = new SendWindows(maxWaiting, (frame) =>
    written.push([frame.readUInt32BE(5), frame.readUIntBE(0, 3), frame[4]!]),
  );
  return { windows, written };
}

describe('SendWindows (HTTP/2 flow control)', () => {
  test('split a body into frames, and mark the last frame', () => {
    const { windows, written } = open();
    windows.open(1);
    expect(windows.send(1, new Uint8Array(40_000))).toBe(MAX_FRAME_SIZE);
    windows.sendRest(1);
    expect(written).toEqual([
      [1, MAX_FRAME_SIZE, 0],
      [1, 40_000 - 2 * MAX_FRAME_SIZE, 1],
    ]);
  });

  test('count the bytes of all streams against the window of the connection', () => {
    const { windows, written } = open();
    for (const stream of [1, 3, 5, 7, 9]) {
      windows.open(stream);
      windows.send(stream, new Uint8Array(MAX_FRAME_SIZE));
    }
    expect(windows.send(9, new Uint8Array(1))).toBe(0);
    windows.widen(0, MAX_FRAME_SIZE);
    expect(written.reduce((sum, [, size]) => sum + size, 0)).toBeLessThanOrEqual(
      DEFAULT_WINDOW + MAX_FRAME_SIZE - 4 * MAX_FRAME_SIZE,
    );
  });

  test('send nothing more for a closed stream', () => {
    const { windows, written } = open();
    windows.resize(0);
    windows.open(1);
    expect(windows.send(1, new Uint8Array(10))).toBe(0);
    windows.close(1);
    expect(windows.widen(1, 100)).toBe(true);
    expect(written).toEqual([]);
  });

  test('become negative after a smaller initial window (RFC 9113 section 6.9.2)', () => {
    const { windows, written } = open();
    windows.open(1);
    windows.send(1, new Uint8Array(70_000));
    for (let i = 0; i < 3; i++) windows.widen(0, MAX_FRAME_SIZE);
    windows.resize(0);
    const before = written.length;
    windows.widen(1, 100);
    expect(written).toHaveLength(before);
    windows.widen(1, 100_000);
    expect(written.at(-1)![2]).toBe(1);
  });

  test('reject windows that are too large, and a client that leaves too much data unread', () => {
    const { windows } = open(10);
    windows.open(1);
    expect([windows.widen(1, MAX_WINDOW), windows.widen(0, MAX_WINDOW)]).toEqual([false, false]);
    expect(windows.resize(MAX_WINDOW + 1)).toBe(false);
    windows.resize(0);
    windows.open(3);
    expect(windows.send(3, new Uint8Array(11))).toBe(0);
    expect(() => windows.sendRest(3)).toThrow(ConnectionFault);
  });
});
