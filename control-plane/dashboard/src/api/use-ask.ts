/** API responses for components. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import type { AnswerOf, CallOf, Given, OperationName } from '../../../../shared/api/client/typed-client.ts';
import { ask } from './ask.ts';

/** An operation that only reads. */
type Reading = Extract<OperationName, `GET ${string}`>;

export interface AskOptions<Answer> {
  /** Whether the request may be sent. */
  readonly enabled?: boolean;
  /** Interval of refreshes while the page is visible; may depend on the last response. */
  readonly everyMs?: number | ((last: Answer | undefined) => number);
  /** Time for which components share a response instead of requesting it again. */
  readonly staleMs?: number;
}

/**
 * An API response that is kept up to date. While a new response is loading, the previous response is still returned.
 */
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
