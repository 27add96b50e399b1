import { describe, expect, test } from '@jest/globals';
import { unreadableList } from '../parse/list-statistics.ts';
import { keysInForce } from './compiled-rules.ts';

describe('keysInForce()', () => {
  test('leaves out lists that could not be read, and those that an older version read', () => {
    const { reading, ...rest } = { ...unreadableList(''), fault: null };
    const sources = [
      { id: 1, inputKey: 'read', statistics: { ...rest, reading: reading! } },
      { id: 2, inputKey: 'older', statistics: rest },
      { id: 3, inputKey: 'unreadable', statistics: unreadableList('torn') },
    ];
    expect([...keysInForce({ sources })]).toEqual(['read']);
  });
});
