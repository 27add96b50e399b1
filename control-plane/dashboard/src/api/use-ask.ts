/** Answers of the API in components. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { AnswerOf, CallOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { ask } from './ask.ts';

/** An operation that only reads. */
type Reading = Extract<OperationName, `GET ${string}`>;

/** Options of a request. */
export interface AskOptions<Answer> {
  /** Asks only while this holds. */
  readonly enabled?: boolean;
  /** Asks again after this time, while the page is seen; it may depend on the last answer. */
  readonly everyMs?: number | ((last: Answer | undefined) => number);
  /** How long an answer is fresh: other components that need it share it. */
  readonly staleMs?: number;
}

/** An answer of the API, kept up to date. The one before stays in place while another one comes. */
export function useAsk<Name extends Reading>(
  name: Name,
  call: Omit<CallOf<Name>, 'signal'>,
  { enabled = true, everyMs, staleMs }: AskOptions<AnswerOf<Name>> = {},
): UseQueryResult<AnswerOf<Name>> {
  return useQuery({
    queryKey: [name, call],
    queryFn: ({ signal }) => ask(name, ...([{ ...call, signal }] as unknown as Given<Name>)),
    enabled,
    refetchInterval: typeof everyMs === 'function' ? ({ state }) => everyMs(state.data) : (everyMs ?? false),
    placeholderData: keepPreviousData,
    ...(staleMs !== undefined && { staleTime: staleMs }),
  });
}
