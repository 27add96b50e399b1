/** Limitations of a simulation, which are shown below its result. */
import type { MessageKey } from '../../i18n/language.ts';
import type { Simulated } from './use-simulation.ts';

/** A statement about what the simulation does not cover, with a number of queries or blocks. */
export interface SimulationNote {
  readonly key: MessageKey;
  readonly count: number;
}

/** The statements that apply to a result. */
export function notesOf({ queries, damaged_blocks: damaged }: Simulated): SimulationNote[] {
  const notes: SimulationNote[] = [
    { key: 'whatif.judged', count: queries.distinct },
    { key: 'whatif.leftOut', count: queries.left_out },
    { key: 'whatif.undecided', count: queries.undecided },
    { key: 'whatif.answerUnknown', count: queries.answer_unknown },
    { key: 'whatif.damaged', count: damaged },
  ];
  return notes.filter(({ key, count }) => key === 'whatif.judged' || count > 0);
}
