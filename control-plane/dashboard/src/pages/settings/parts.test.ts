import { describe, expect, test } from '@jest/globals';
import { isSection, partsFor } from './parts.ts';

describe('partsFor(), the parts of the settings page,', () => {
  test('contain no parts for administrators if the user is a viewer', () => {
    const parts = partsFor({ username: 'vera', isAdmin: false, isFamily: false });
    expect(parts).toContain('sessions');
    expect(parts).not.toContain('users');
  });

  test('contain neither account nor sessions if login is disabled', () => {
    expect(partsFor({ username: null, isAdmin: true, isFamily: false })[1]).toBe('users');
  });
});

describe('isSection()', () => {
  test('distinguishes sections of the configuration from other parts', () => {
    expect([isSection('dns'), isSection('users')]).toEqual([true, false]);
  });
});
