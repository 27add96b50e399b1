import { describe, expect, test } from '@jest/globals';
import fc from '../../test/support/parts/fast-check.ts';
import { FrameReader, FrameWriter, frame } from './framing.ts';

function collect(): { reader: FrameReader; taken: Uint8Array[] } {
  const taken: Uint8Array[] = [];
  const reader = new FrameReader((message) => {
    taken.push(message.slice());
    return true;
  });
  return { reader, taken };
}

describe('FrameReader, which splits a TCP stream into messages,', () => {
  test('push() returns every message, for any split of the stream into chunks', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 12 });
    const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(messages, cuts, (sent, sizes) => {
        const stream = Buffer.concat(sent.map(frame));
        const { reader, taken } = collect();
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = sizes[i % sizes.length]!;
          reader.push(Uint8Array.from(stream.subarray(at, at + size)));
          at += size;
        }
        expect(taken.map((bytes) => [...bytes])).toEqual(sent.map((bytes) => [...bytes]));
        expect(reader.isEmpty).toBe(true);
      }),
    );
  });

  test('push() accepts a message of 65,535 bytes whose length is sent one byte at a time', () => {
    const { reader, taken } = collect();
    const message = new Uint8Array(65_535).fill(7);
    const stream = frame(message);
    reader.push(stream.subarray(0, 1));
    reader.push(stream.subarray(1, 2));
    expect(reader.isEmpty).toBe(false);
    reader.push(stream.subarray(2));
    expect(taken).toEqual([message]);
  });

  test('push() returns a message within one chunk as a view, without a copy', () => {
    const chunk = frame(Uint8Array.of(1, 2, 3));
    let seen: Uint8Array | undefined;
    const reader = new FrameReader((message) => {
      seen = message;
      return true;
    });
    reader.push(chunk);
    expect(seen?.buffer).toBe(chunk.buffer);
  });

  test('push() stops when the callback returns false, and resume() continues', () => {
    const taken: number[] = [];
    const reader = new FrameReader((message) => {
      taken.push(message[0]!);
      return message[0] !== 2;
    });
    reader.push(Buffer.concat([frame(Uint8Array.of(1)), frame(Uint8Array.of(2)), frame(Uint8Array.of(3))]));
    reader.push(frame(Uint8Array.of(4)));
    expect(taken).toEqual([1, 2]);
    reader.resume();
    expect(taken).toEqual([1, 2, 3, 4]);
  });

  test('resume() within the callback does not call the callback recursively', () => {
    let depth = 0;
    let deepest = 0;
    const reader = new FrameReader(() => {
      depth++;
      deepest = Math.max(deepest, depth);
      reader.resume();
      depth--;
      return true;
    });
    reader.push(Buffer.concat(Array.from({ length: 5000 }, () => frame(Uint8Array.of(1)))));
    expect(deepest).toBe(1);
  });
});

describe('frame', () => {
  test('rejects a message that is too long for the length field', () => {
    expect(() => frame(new Uint8Array(65_536))).toThrow('65536 bytes do not fit');
  });
});

describe('FrameWriter, which joins messages to a TCP stream,', () => {
  test('take() returns the frames since the last call, and later calls do not change them', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 6 }), (turns) => {
        const writer = new FrameWriter();
        const taken = turns.map((turn) => {
          for (const message of turn) writer.add(message);
          return writer.take();
        });
        const sent = turns.map((turn) => Buffer.concat(turn.map(frame)));
        expect(taken.map((frames) => Buffer.from(frames ?? []).toString('hex'))).toEqual(
          sent.map((frames) => frames.toString('hex')),
        );
        expect(writer.take()).toBeNull();
      }),
    );
  });

  test('add() accepts a message of 65,535 bytes', () => {
    const writer = new FrameWriter();
    const message = new Uint8Array(65_535).fill(7);
    writer.add(message);
    expect(Buffer.from(writer.take()!).equals(frame(message))).toBe(true);
  });
});
