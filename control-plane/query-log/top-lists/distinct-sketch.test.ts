import { describe, expect, test } from '@jest/globals';
import { DistinctSketch, SKETCH_BYTES } from './distinct-sketch.ts';

function sketchOf(from: number, to: number): DistinctSketch {
  const sketch = new DistinctSketch();
  for (let i = from; i < to; i++) {
    const text = Buffer.from(`host${i}.example.org`);
    sketch.add(text, 0, text.length);
    if (i % 3 === 0) sketch.add(text, 0, text.length);
  }
  return sketch;
}

const offBy = (sketch: DistinctSketch, count: number): number => Math.abs(sketch.size / count - 1);

describe('DistinctSketch', () => {
  test.each([100, 5000, 12_000, 1_000_000])('estimates %i texts with an error of at most 5 %', (count) => {
    expect(offBy(sketchOf(0, count), count)).toBeLessThan(0.05);
  });

  test('is zero at first', () => {
    expect(new DistinctSketch().size).toBe(0);
  });

  test('join() counts texts of both sketches once', () => {
    const sketch = sketchOf(0, 40_000);
    sketch.join(sketchOf(20_000, 60_000));
    expect(sketch.registers).toEqual(sketchOf(0, 60_000).registers);
  });

  test('is restored from its registers', () => {
    const sketch = sketchOf(0, 500);
    expect(new DistinctSketch(sketch.registers.slice()).size).toBe(sketch.size);
    expect(() => new DistinctSketch(new Uint8Array(SKETCH_BYTES - 1))).toThrow('4095 bytes');
  });
});
