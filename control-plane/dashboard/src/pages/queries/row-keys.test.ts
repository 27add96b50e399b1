import { describe, expect, test } from '@jest/globals';
import { rowKeyOf } from './row-keys.ts';

const pressed = { key: 'j', ctrlKey: false, metaKey: false, altKey: false, defaultPrevented: false };

describe('rowKeyOf(), the keyboard shortcuts of a row,', () => {
  test('returns the action of each shortcut', () => {
    expect(rowKeyOf(pressed, false)).toBe('next');
    expect(rowKeyOf({ ...pressed, key: '/' }, false)).toBe('search');
    expect(rowKeyOf({ ...pressed, key: 'x' }, false)).toBeNull();
  });

  test('ignores typed text and shortcuts of the browser', () => {
    expect(rowKeyOf(pressed, true)).toBeNull();
    expect(rowKeyOf({ ...pressed, ctrlKey: true }, false)).toBeNull();
    expect(rowKeyOf({ ...pressed, metaKey: true }, false)).toBeNull();
    expect(rowKeyOf({ ...pressed, defaultPrevented: true }, false)).toBeNull();
  });
});
