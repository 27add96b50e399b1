/**
 * A long-running request that the user starts. Only one request runs at a time, and leaving the page also cancels it on
 * the server.
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

type Progress<Name extends OperationName> = Pick<Question<Name>, 'state' | 'result' | 'failure'>;

/** Long-running requests to one operation. */
export function useQuestion<Name extends OperationName>(name: Name): Question<Name> {
  const [progress, setProgress] = useState<Progress<Name>>(idle);
  const asked = useRef<AbortController | null>(null);
  const end = useCallback(() => {
    asked.current?.abort();
    asked.current = null;
  }, []);
  const cancel = useCallback(() => {
    end();
    setProgress(idle);
  }, [end]);
  const run = useCallback(
    (call: CallOf<Name>) => {
      end();
      const own = new AbortController();
      asked.current = own;
      setProgress({ ...idle(), state: 'running' });
      const settle = (next: Progress<Name>): void => {
        if (asked.current === own) setProgress(next);
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
  return { ...progress, run, cancel };
}

function idle<Name extends OperationName>(): Progress<Name> {
  return { state: 'idle', result: null, failure: null };
}
