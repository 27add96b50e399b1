// A workload whose questions were selected from the material and written to a file for the generator.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Material } from './material/material.ts';
import { mixQuestions, partlyUnique, stampQuestions, uniqueQuestions } from './material/question-mix.ts';
import { formatQuestions } from './material/asked-question.ts';
import type { Workload } from './workload.ts';

/** Parent names of generated unique names. */
const PARENTS = 20_000;

export interface PreparedWorkload extends Workload {
  questionFile: string;
  /** Number of blocked questions in one pass. */
  blockedCount: number;
  /** Whether all or some questions of every run must be for names that were never queried before. */
  unique: boolean;
  /** Seconds of one run. */
  secs: number;
}

/** Selects and writes the questions of a workload. `secs` overrides the length of a run. */
export function prepareWorkload(
  workload: Workload,
  material: Material,
  seed: number,
  dir: string,
  secs: number | undefined,
): PreparedWorkload {
  const questionFile = join(dir, `${workload.name}.questions`);
  const { questions, blockedCount } = cutQuestions(workload, material, seed);
  writeFileSync(questionFile, formatQuestions(questions));
  return {
    ...workload,
    questionFile,
    blockedCount,
    unique: workload.questions.kind === 'unique' || workload.questions.kind === 'partly-unique',
    secs: secs ?? workload.load.secs,
  };
}

function cutQuestions(
  { questions }: Workload,
  material: Material,
  seed: number,
): ReturnType<typeof mixQuestions> {
  switch (questions.kind) {
    case 'mix':
      return mixQuestions(material.stream, material.listed, questions.count, questions.blockedShare, seed);
    case 'unique':
      return {
        questions: uniqueQuestions(material.stream, material.listed, questions.count),
        blockedCount: 0,
      };
    case 'partly-unique': {
      const { count, uniqueShare } = questions;
      return {
        questions: partlyUnique(material.stream, material.listed, count, uniqueShare, seed),
        blockedCount: 0,
      };
    }
    case 'distinct':
      return {
        questions: stampQuestions(
          uniqueQuestions(material.stream, material.listed, PARENTS),
          0,
          questions.count,
        ),
        blockedCount: 0,
      };
  }
}
