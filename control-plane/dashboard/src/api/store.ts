/** Cache of API responses for the page, and the rules for refreshing them. */
import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';

/** Statistics over the log and the catalog of services. They are expensive, and policy changes do not affect them. */
const EXPENSIVE = /^GET \/(dashboard|stats|queries|clients\/stats|services\/catalog)/;

/** Creates the cache of responses. */
export function createStore(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A browser that reports no network may still reach Weir, and a failed request is how the page notices a lost
        // connection.
        networkMode: 'always',
        // A retry does not help if the server refused the request, but may help if the connection failed.
        retry: (count, error) => count < 2 && !(error instanceof ApiFailure && error.status < 500),
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Refreshes all responses on the page, except statistics over the log and the catalog of services. */
export function refreshAll(store: QueryClient): Promise<void> {
  return store.invalidateQueries({ predicate: ({ queryKey }) => !EXPENSIVE.test(String(queryKey[0])) });
}
