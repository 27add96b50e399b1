import { describe, expect, test } from '@jest/globals';
import { isSection, partsFor } from './parts.ts';

describe('partsFor()', () => {
  test('hides from viewers what only administrators may do', () => {
    const parts = partsFor({ username: 'vera', isAdmin: false });
    expect(parts).toContain('sessions');
    expect(parts).not.toContain('users');
  });

  test('has no sessions where no login is asked for', () => {
    expect(partsFor({ username: null, isAdmin: true })).not.toContain('sessions');
  });
});

describe('isSection()', () => {
  test('tells sections of the configuration from other parts', () => {
    expect([isSection('dns'), isSection('users')]).toEqual([true, false]);
  });
});
