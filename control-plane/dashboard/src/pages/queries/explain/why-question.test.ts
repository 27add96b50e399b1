import { describe, expect, test } from '@jest/globals';
import { deviceOf, queryOf } from './why-question.ts';

const EMPTY = { name: '', type: 'A', client: '', client_id: '', group: '' };
const PHONE = {
  ...{ id: 7, name: 'Phone', hostname: 'phone.home.arpa', ip_address: '192.0.2.7' },
  ...{ mac_address: '02:00:00:00:00:07', client_key: null },
};

describe('queryOf(), the parameters of an explanation,', () => {
  test.each([
    [{}, null],
    [{ name: ' a.example ' }, { domain: 'a.example', type: 'A', group_id: 1 }],
    [{ name: 'https://a.example/x?y' }, { domain: 'a.example', type: 'A', group_id: 1 }],
    [
      { name: 'a.example', type: 'AAAA', client: '::1' },
      { domain: 'a.example', type: 'AAAA', client: '::1' },
    ],
    [
      { name: 'a.example', client_id: '7', group: '3' },
      { domain: 'a.example', type: 'A', client_id: 7, group_id: 3 },
    ],
    [
      { name: 'a.example', group: '3' },
      { domain: 'a.example', type: 'A', group_id: 3 },
    ],
  ])('for %j are %j', (fields, query) => {
    expect(queryOf({ ...EMPTY, ...fields })).toEqual(query);
  });
});

describe('deviceOf(), the device that a user entered,', () => {
  test.each([
    ['phone', { client: '', client_id: '7' }],
    ['192.0.2.7', { client: '', client_id: '7' }],
    ['02:00:00:00:00:07', { client: '', client_id: '7' }],
    ['192.0.2.8', { client: '192.0.2.8', client_id: '' }],
    [' ', { client: '', client_id: '' }],
  ])('for %j is %j', (text, device) => {
    expect(deviceOf(text, [PHONE])).toEqual(device);
  });
});
