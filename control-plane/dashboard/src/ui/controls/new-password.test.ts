import { describe, expect, test } from '@jest/globals';
import { isSettable, passwordFaults } from './new-password.ts';

const typed = (password: string, repeated: string): { password: string; repeated: string } => ({
  password,
  repeated,
});

describe('passwordFaults() for a new password typed twice', () => {
  test.each([
    [typed('', ''), { isShort: false, differs: false }],
    [typed('1234567', ''), { isShort: true, differs: false }],
    [typed('12345678', '1234'), { isShort: false, differs: true }],
    [typed('12345678', '12345678'), { isShort: false, differs: false }],
  ])('are right for %j', (password, faults) => {
    expect(passwordFaults(password)).toEqual(faults);
  });
});

describe('isSettable() for a new password', () => {
  test('is true only for eight characters and the same text twice', () => {
    const tries = [
      typed('', ''),
      typed('1234567', '1234567'),
      typed('12345678', ''),
      typed('12345678', '12345678'),
    ];
    expect(tries.map(isSettable)).toEqual([false, false, false, true]);
  });
});
