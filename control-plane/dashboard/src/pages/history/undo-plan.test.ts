import { describe, expect, test } from '@jest/globals';
import { undoPlanOf } from './undo-plan.ts';
import type { Revision } from './undo-plan.ts';

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

describe('undoPlanOf(), the revisions that an undo affects,', () => {
  test('rolls back all revisions after the target', () => {
    const { target, going, head } = undoPlanOf(REVISIONS, { to: 4 });
    expect([target?.id, going.map(({ id }) => id), head]).toEqual([4, [9, 7], 9]);
  });

  test('rolls back to the revision before the undone one, even if the IDs have gaps', () => {
    const { target, going } = undoPlanOf(REVISIONS, { undo: 7 });
    expect([target?.id, going.map(({ id }) => id)]).toEqual([4, [9, 7]]);
  });

  test('has no target if no older revision is known', () => {
    expect(undoPlanOf(REVISIONS, { undo: 4 })).toEqual({ target: null, going: [], head: 9 });
    expect(undoPlanOf([], { to: 1 })).toEqual({ target: null, going: [], head: 0 });
  });

  test('does not roll back changes that Weir made itself', () => {
    const mixed = [...REVISIONS, revision(8, true), revision(10, true)];
    expect(undoPlanOf(mixed, { undo: 9 })).toMatchObject({ target: { id: 8 }, going: [{ id: 9 }], head: 10 });
    expect(undoPlanOf(mixed, { to: 4 }).going.map(({ id }) => id)).toEqual([9, 7]);
    expect(undoPlanOf(mixed, { undo: 8 }).going).toEqual([]);
  });

  test('rolls nothing back if the newest revision is the target', () => {
    expect(undoPlanOf(REVISIONS, { to: 9 }).going).toEqual([]);
  });
});
