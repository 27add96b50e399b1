import { describe, expect, test } from '@jest/globals';
import { takeBackOf } from './take-back.ts';
import type { Revision } from './take-back.ts';

function revision(id: number, isOwn = false): Revision {
  const at = '2026-01-15T12:00:00.000Z';
  return {
    id,
    created_at: at,
    author: 'vera',
    summary: `thing ${id}: created`,
    codes: null,
    is_own: isOwn,
    can_rollback: true,
  };
}

const REVISIONS = [revision(9), revision(4), revision(7)];

describe('takeBackOf()', () => {
  test('rolls back all revisions after the target', () => {
    const { target, going, head } = takeBackOf(REVISIONS, { to: 4 });
    expect([target?.id, going.map(({ id }) => id), head]).toEqual([4, [9, 7], 9]);
  });

  test('rolls back to the revision before the undone one, even if numbers are missing', () => {
    const { target, going } = takeBackOf(REVISIONS, { undo: 7 });
    expect([target?.id, going.map(({ id }) => id)]).toEqual([4, [9, 7]]);
  });

  test('has no target if no older revision is known', () => {
    expect(takeBackOf(REVISIONS, { undo: 4 })).toEqual({ target: null, going: [], head: 9 });
    expect(takeBackOf([], { to: 1 })).toEqual({ target: null, going: [], head: 0 });
  });

  test('keeps changes by Weir itself', () => {
    const mixed = [...REVISIONS, revision(8, true), revision(10, true)];
    expect(takeBackOf(mixed, { undo: 9 })).toMatchObject({ target: { id: 8 }, going: [{ id: 9 }], head: 10 });
    expect(takeBackOf(mixed, { to: 4 }).going.map(({ id }) => id)).toEqual([9, 7]);
    expect(takeBackOf(mixed, { undo: 8 }).going).toEqual([]);
  });

  test('rolls nothing back if the newest revision is the target', () => {
    expect(takeBackOf(REVISIONS, { to: 9 }).going).toEqual([]);
  });
});
