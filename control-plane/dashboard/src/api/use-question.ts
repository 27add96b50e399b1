/**
 * A long-running request that the user starts. Only one runs at a time, and leaving the page also cancels it on the
 * server.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { AnswerOf, CallOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { ask } from './ask.ts';

export interface Question<Name extends OperationName> {
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  readonly result: AnswerOf<Name> | null;
  readonly failure: Error | null;
  /** Sends the request and cancels the previous one. */
  readonly run: (call: CallOf<Name>) => void;
  readonly cancel: () => void;
}

type Standing<Name extends OperationName> = Pick<Question<Name>, 'state' | 'result' | 'failure'>;

/** Long-running requests to one operation. */
export function useQuestion<Name extends OperationName>(name: Name): Question<Name> {
  const [standing, setStanding] = useState<Standing<Name>>(idle);
  const asked = useRef<AbortController | null>(null);
  const end = useCallback(() => {
    asked.current?.abort();
    asked.current = null;
  }, []);
  const cancel = useCallback(() => {
    end();
    setStanding(idle);
  }, [end]);
  const run = useCallback(
    (call: CallOf<Name>) => {
      end();
      const own = new AbortController();
      asked.current = own;
      setStanding({ ...idle(), state: 'running' });
      const settle = (next: Standing<Name>): void => {
        if (asked.current === own) setStanding(next);
      };
      const given = [{ ...call, signal: own.signal }] as unknown as Given<Name>;
      ask(name, ...given).then(
        (result) => settle({ state: 'done', result, failure: null }),
        (error: unknown) => {
          const failure = error instanceof Error ? error : new Error(String(error));
          settle({ state: 'failed', result: null, failure });
        },
      );
    },
    [name, end],
  );
  useEffect(() => end, [end]);
  return { ...standing, run, cancel };
}

function idle<Name extends OperationName>(): Standing<Name> {
  return { state: 'idle', result: null, failure: null };
}
