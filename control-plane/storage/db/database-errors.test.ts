import { describe, expect, test } from '@jest/globals';
import {
  DatabaseBusy,
  DatabaseUnavailable,
  isBusy,
  isConflict,
  isConnectionLost,
  isDataError,
  isForeignKeyViolation,
  isStatementTimeout,
  isUnavailable,
  isUniqueViolation,
} from './database-errors.ts';

/** An error in the form of pg and Node. */
function fault(code: string, more: object = {}, message = 'failed'): Error {
  return Object.assign(new Error(message), { code, ...more });
}

describe('isUnavailable()', () => {
  test.each(['08006', '28P01', '3D000', '53300', '57P01', '58030', '25006', 'ECONNREFUSED', 'EPIPE'])(
    'is true for %s',
    (code) => expect(isUnavailable(fault(code))).toBe(true),
  );

  test.each(['23505', '57014', '40001', '25001', '55P03', 'ENOENT', 'EACCES', 'EINVAL', ''])(
    'is false for %s',
    (code) => expect(isUnavailable(fault(code))).toBe(false),
  );

  test('is true for a missing file only if the file is the socket of the server', () => {
    expect(isUnavailable(fault('ENOENT', { syscall: 'connect' }))).toBe(true);
    expect(isUnavailable(fault('ENOENT', { syscall: 'open' }))).toBe(false);
  });

  test("recognizes errors that pg reports by message, Weir's own errors, and one of several errors", () => {
    expect(isUnavailable(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isUnavailable(new Error('so the Connection terminated'))).toBe(false);
    expect(isUnavailable(new DatabaseBusy('busy'))).toBe(true);
    expect(isUnavailable(new AggregateError([fault('23505'), fault('ECONNREFUSED')]))).toBe(true);
    expect(isUnavailable(new AggregateError([fault('23505')]))).toBe(false);
    expect(isUnavailable('08006')).toBe(false);
  });
});

describe('isConnectionLost()', () => {
  test('is false if connections stay usable: a full disk, too many connections, a system error', () => {
    expect(['53100', '53300', '58030'].map((code) => isConnectionLost(fault(code)))).toEqual([
      false,
      false,
      false,
    ]);
    expect(['57P01', '08006', 'ECONNRESET'].map((code) => isConnectionLost(fault(code)))).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe('isBusy()', () => {
  test('is true if the server did not respond in time, for whatever reason', () => {
    const busy = [
      fault('55P03'),
      new DatabaseBusy('busy'),
      new Error('timeout exceeded when trying to connect'),
      new Error('Query read timeout'),
      new Error('Connection terminated due to connection timeout'),
    ];
    expect(busy.map(isBusy)).toEqual(busy.map(() => true));
    const others = [
      fault('57014'),
      new DatabaseUnavailable('away'),
      new Error('Connection terminated'),
      null,
    ];
    expect(others.map(isBusy)).toEqual(others.map(() => false));
  });
});

describe('errors of constraints', () => {
  test('isUniqueViolation() distinguishes a given constraint from other constraints', () => {
    const broken = fault('23505', { constraint: 'groups_name_key' });
    expect([
      isUniqueViolation(broken),
      isUniqueViolation(broken, 'groups_name_key'),
      isUniqueViolation(broken, 'clients_ip_key'),
      isUniqueViolation(fault('23505'), 'groups_name_key'),
      isUniqueViolation(fault('23503')),
    ]).toEqual([true, true, false, false, false]);
  });

  test('isForeignKeyViolation() recognizes the codes of ON DELETE RESTRICT in old and new versions of PostgreSQL', () => {
    expect(['23503', '23001', '23505'].map((code) => isForeignKeyViolation(fault(code)))).toEqual([
      true,
      true,
      false,
    ]);
    expect(isForeignKeyViolation(fault('23001', { constraint: 'a' }), 'b')).toBe(false);
  });
});

describe('errors of one statement', () => {
  test('isConflict() recognizes deadlocks and serialization failures', () => {
    expect(['40001', '40P01', '40002', '140001'].map((code) => isConflict(fault(code)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('isDataError() recognizes the two classes of errors for values that cannot be stored', () => {
    expect(
      ['22021', '23514', '22P02', '21000', '42601', '2'].map((code) => isDataError(fault(code))),
    ).toEqual([true, true, true, false, false, false]);
  });

  test('isStatementTimeout() recognizes a statement that took too long', () => {
    expect([isStatementTimeout(fault('57014')), isStatementTimeout(fault('55P03'))]).toEqual([true, false]);
  });
});
