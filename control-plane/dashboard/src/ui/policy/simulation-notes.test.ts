import { describe, expect, test } from '@jest/globals';
import { notesOf } from './simulation-notes.ts';
import type { Simulated } from './use-simulation.ts';

const queries = {
  judged: 40,
  not_judged: 0,
  undecided: 0,
  answer_unknown: 0,
  left_out: 0,
  distinct: 9,
};

function notes(changed: Partial<typeof queries>, damaged = 0): string[] {
  return notesOf({ queries: { ...queries, ...changed }, damaged_blocks: damaged } as Simulated).map(
    ({ key, count }) => `${key} ${count}`,
  );
}

describe('notesOf() for the result of a simulation', () => {
  test('contains only the number of checked queries if the simulation was complete', () => {
    expect(notes({})).toEqual(['whatif.judged 9']);
  });

  test('contains each limitation with its number', () => {
    expect(notes({ left_out: 7, undecided: 2, answer_unknown: 3 }, 1)).toEqual([
      'whatif.judged 9',
      'whatif.leftOut 7',
      'whatif.undecided 2',
      'whatif.answerUnknown 3',
      'whatif.damaged 1',
    ]);
  });
});
