/** Asks what a draft of policy would change about the logged queries. One question at a time; it can be ended. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';
import { ask } from '../../api/ask.ts';

/** A draft of policy. */
export type Draft = NonNullable<CallOf<'POST /simulate'>['body']>;
/** What it would change. */
export type Simulated = AnswerOf<'POST /simulate'>;

/** Where the question stands. */
export interface Simulating {
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  readonly result: Simulated | null;
  readonly failure: Error | null;
  readonly run: (draft: Draft) => void;
  readonly cancel: () => void;
}

type Standing = Pick<Simulating, 'state' | 'result' | 'failure'>;

const IDLE: Standing = { state: 'idle', result: null, failure: null };

/** Leaving the page ends the question on the server, too. */
export function useSimulation(): Simulating {
  const [standing, setStanding] = useState<Standing>(IDLE);
  const asked = useRef<AbortController | null>(null);
  const cancel = useCallback(() => {
    asked.current?.abort();
    asked.current = null;
    setStanding(IDLE);
  }, []);
  const run = useCallback((draft: Draft) => {
    asked.current?.abort();
    const own = new AbortController();
    asked.current = own;
    setStanding({ ...IDLE, state: 'running' });
    const settle = (next: Standing): void => {
      if (asked.current === own) setStanding(next);
    };
    ask('POST /simulate', { body: draft, signal: own.signal }).then(
      (result) => settle({ state: 'done', result, failure: null }),
      (error: unknown) =>
        settle({
          state: 'failed',
          result: null,
          failure: error instanceof Error ? error : new Error(String(error)),
        }),
    );
  }, []);
  useEffect(
    () => () => {
      asked.current?.abort();
      asked.current = null;
    },
    [],
  );
  return { ...standing, run, cancel };
}
