import { describe, expect, test } from '@jest/globals';
import { LatencyEstimate } from './latency-estimate.ts';

describe('LatencyEstimate', () => {
  test('is unknown before the first answer, and wide after it', () => {
    const estimate = new LatencyEstimate();
    expect(estimate.usualMs).toBe(0);
    estimate.note(20);
    expect(estimate.usualMs).toBe(60);
  });

  test('comes near to a steady latency, and grows with its spread', () => {
    const [steady, spread] = [new LatencyEstimate(), new LatencyEstimate()];
    for (let i = 0; i < 100; i++) {
      steady.note(20);
      spread.note(i % 2 === 0 ? 5 : 35);
    }
    expect(steady.usualMs).toBeCloseTo(20, 0);
    expect(spread.usualMs).toBeGreaterThan(60);
  });
});
