/** Simulates a policy draft with the logged queries. Only one simulation runs at a time, and the user can cancel it. */
import { useCallback } from 'react';
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';
import { type Question, useQuestion } from '../../api/use-question.ts';

/** A draft of policy. */
export type Draft = NonNullable<CallOf<'POST /simulate'>['body']>;
/** Result of a simulation. */
export type Simulated = AnswerOf<'POST /simulate'>;

export interface Simulating extends Omit<Question<'POST /simulate'>, 'run'> {
  readonly run: (draft: Draft) => void;
}

/** Leaving the page also cancels the simulation on the server. */
export function useSimulation(): Simulating {
  const { run: asking, ...question } = useQuestion('POST /simulate');
  const run = useCallback((draft: Draft) => asking({ body: draft }), [asking]);
  return { ...question, run };
}
