/** Open requests of devices to unblock a name, as the stream of the node's state reports them. */
import { useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';

type Ids = readonly number[];

const KEY = ['unblock_requests'] as const;

/** Number of open requests. */
export function useUnblockRequests(): number {
  const { data = [] } = useQuery<Ids>({ queryKey: KEY, queryFn: () => [], enabled: false });
  return data.length;
}

/** Keeps the ids; the list of requests is read again if they are others. */
export function keepUnblockRequests(store: QueryClient, ids: Ids): void {
  const known = store.getQueryData<Ids>(KEY);
  store.setQueryData(KEY, ids);
  if (known !== undefined && known.join() !== ids.join())
    void store.invalidateQueries({ queryKey: ['GET /unblock-requests'] });
}
