import { describe, expect, test } from '@jest/globals';
import { COUNTERS_BYTES } from '../../shared/memory/answer-counters.ts';
import { Counter } from '../../shared/memory/counters.ts';
import { LoopLag } from './loop-lag.ts';

describe('LoopLag.beat(), which measures delays of the event loop,', () => {
  test('adds up the delays of late beats, and ignores early beats', () => {
    let nowMs = 5000;
    const memory = new SharedArrayBuffer(COUNTERS_BYTES);
    const lag = new LoopLag(memory, { nowMs: () => 0, monotonicMs: () => nowMs }, 1000);
    for (const stepMs of [1000, 1250, 900, 1005]) {
      nowMs += stepMs;
      lag.beat();
    }
    const counters = new Float64Array(memory);
    expect([counters[Counter.LOOP_LAG_MS], counters[Counter.LOOP_BEATS]]).toEqual([255, 4]);
  });
});
