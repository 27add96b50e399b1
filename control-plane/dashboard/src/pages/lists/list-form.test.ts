import { describe, expect, test } from '@jest/globals';
import { bodyOfList, fieldsOfList } from './list-form.ts';

describe('bodyOfList()', () => {
  test('names a list without a name by its address', () => {
    const fields = { ...fieldsOfList(null), url: ' https://lists.example/ads.txt ' };
    expect(bodyOfList(fields)).toEqual({
      name: 'lists.example/ads.txt',
      url: 'https://lists.example/ads.txt',
      comment: '',
      subdomains: false,
      group_ids: [],
    });
  });

  test('sends the selected groups', () => {
    expect(bodyOfList({ ...fieldsOfList(null), name: 'x', groupIds: [3, 1] }).group_ids).toEqual([3, 1]);
  });
});
