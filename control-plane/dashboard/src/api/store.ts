/** The answers of the API that the page keeps, and when they are asked for again. */
import { QueryClient } from '@tanstack/react-query';
import { ApiFailure } from '../../../../shared/api/client/typed-client.ts';

/** Figures over the log, and the catalog of services: a change of policy does not change them, and they are dear. */
const DEAR = /^GET \/(dashboard|stats|queries|clients\/stats|services\/catalog)/;

/** The one store of answers. */
export function createStore(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A browser without a network may still reach Weir, and a lost connection is found out by asking.
        networkMode: 'always',
        // A retry cannot help a refused request; one that failed in transit may succeed.
        retry: (count, error) => count < 2 && !(error instanceof ApiFailure && error.status < 500),
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Refreshes all answers on the page, except for statistics over the log and the catalog of services. */
export function refreshAll(store: QueryClient): Promise<void> {
  return store.invalidateQueries({ predicate: ({ queryKey }) => !DEAR.test(String(queryKey[0])) });
}
