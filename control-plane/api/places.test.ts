import { expect, test } from '@jest/globals';
import { holderOf, Places } from './places.ts';

test('Places refuses a caller at its limit, and all callers at the total limit, until a place is released', () => {
  const places = new Places('exports', { total: 3, perCaller: 2 });
  const leave = places.take('vera');
  places.take('vera');
  expect(() => places.admit('vera')).toThrow('2 exports of vera are already open');
  places.take(null);
  for (const holder of ['ann', null])
    expect(() => places.take(holder)).toThrow(expect.objectContaining({ status: 429, code: 'busy' }));
  leave();
  places.take('ann');
  expect(() => places.admit('vera')).toThrow('3 exports are already open');
});

test('holderOf() is null for callers that cannot be distinguished from others', () => {
  const caller = {
    username: 'vera',
    role: 'viewer',
    userId: 2,
    tokenId: null,
    sessionId: 5,
    clientIds: null,
  } as const;
  expect(holderOf(caller)).toBe('vera');
  expect(holderOf({ ...caller, username: 'token Grafana', userId: null, tokenId: 1, sessionId: null })).toBe(
    'token Grafana',
  );
  expect(holderOf({ ...caller, sessionId: null })).toBeNull();
  expect(holderOf(null)).toBeNull();
});
