import { describe, expect, test } from '@jest/globals';
import { Events } from './events.ts';

describe('Events', () => {
  test('until() resolves immediately if its condition is true', async () => {
    await new Events().until(() => true);
  });

  test('until() resolves with the event after which its condition is true, not earlier', async () => {
    const events = new Events();
    let count = 0;
    let isOver = false;
    const over = events.until(() => count === 2).then(() => (isOver = true));
    for (; count < 2; count++) {
      events.happened();
      await Promise.resolve();
      expect(isOver).toBe(false);
    }
    events.happened();
    await over;
    expect(isOver).toBe(true);
  });

  test('happened() evaluates each condition until it is true, and not afterwards', async () => {
    const events = new Events();
    let asked = 0;
    const over = events.until(() => ++asked === 3);
    for (let i = 0; i < 5; i++) events.happened();
    await over;
    expect(asked).toBe(3);
  });
});
