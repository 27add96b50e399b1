import { describe, expect, test } from '@jest/globals';
import { bodyOfList, fieldsOfList } from './list-form.ts';

describe('bodyOfList(), the request to add a list,', () => {
  test('uses the address as the name of a list without a name', () => {
    const fields = { ...fieldsOfList(null), url: ' https://lists.example/ads.txt ' };
    expect(bodyOfList(fields)).toEqual({
      name: 'lists.example/ads.txt',
      url: 'https://lists.example/ads.txt',
      comment: '',
      subdomains: false,
      group_ids: [],
    });
  });

  test('contains the selected groups', () => {
    expect(bodyOfList({ ...fieldsOfList(null), name: 'x', groupIds: [3, 1] }).group_ids).toEqual([3, 1]);
  });
});
