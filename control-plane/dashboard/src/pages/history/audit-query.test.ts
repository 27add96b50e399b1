import { describe, expect, test } from '@jest/globals';
import { auditQueryOf } from './audit-query.ts';

const NOTHING = { author: '', subject: ' ', action: 'all', period: 'all', from: '0' };

describe('auditQueryOf(), the request for the audit log,', () => {
  test('has no parameters without filters', () => {
    expect(auditQueryOf(NOTHING)).toEqual({ limit: 50, offset: 0 });
  });

  test('requests the entries of an action by its code', () => {
    expect(auditQueryOf({ ...NOTHING, action: 'created' })).toMatchObject({ action_code: 'created' });
  });

  test('trims texts and ignores an invalid page number', () => {
    expect(auditQueryOf({ ...NOTHING, author: ' vera ', period: '7d', from: '100' })).toEqual({
      author: 'vera',
      period: '7d',
      limit: 50,
      offset: 100,
    });
    expect(auditQueryOf({ ...NOTHING, from: '-1' })).toEqual({ limit: 50, offset: 0 });
  });
});
