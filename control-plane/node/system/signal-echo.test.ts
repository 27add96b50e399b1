import { describe, expect, test } from '@jest/globals';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { SignalEcho } from './signal-echo.ts';

describe('SignalEcho', () => {
  test('ignores a repeated signal for a quarter of a second', () => {
    const clock = new TestClock();
    const echo = new SignalEcho(clock);
    expect(echo.isEcho('SIGINT')).toBe(false);
    clock.advance(249);
    expect(echo.isEcho('SIGINT')).toBe(true);
    clock.advance(1);
    expect(echo.isEcho('SIGINT')).toBe(false);
  });

  test('accepts a different signal immediately', () => {
    const echo = new SignalEcho(new TestClock());
    expect([echo.isEcho('SIGTERM'), echo.isEcho('SIGINT')]).toEqual([false, false]);
  });
});
