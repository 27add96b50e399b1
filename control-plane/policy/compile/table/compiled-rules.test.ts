import { describe, expect, test } from '@jest/globals';
import { unreadableList } from '../parse/list-statistics.ts';
import { activeKeys } from './compiled-rules.ts';

describe('activeKeys()', () => {
  test('leaves out lists that could not be read, and lists that an older version of the parser read', () => {
    const statistics = { ...unreadableList(''), fault: null };
    const sources = [
      { id: 1, inputKey: 'read', statistics },
      { id: 2, inputKey: 'older', statistics: { ...statistics, reading: statistics.reading - 1 } },
      { id: 3, inputKey: 'unreadable', statistics: unreadableList('torn') },
    ];
    expect([...activeKeys({ sources })]).toEqual(['read']);
  });
});
