/** Open requests of devices to unblock a name, as the stream of the node's state reports them. */
import { useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useAsk } from '../use-ask.ts';
import type { ConnectionState } from './connection.ts';

type Ids = readonly number[];

const KEY = ['unblock_requests'] as const;
/** Polling interval, and time without a stream after which polling starts. */
const POLL_MS = 10_000;

/** Number of open requests: as the stream reports it, or polled without a stream. */
export function useUnblockRequests(state: ConnectionState): number {
  const { data = [] } = useQuery<Ids>({ queryKey: KEY, queryFn: () => [], enabled: false });
  const isPolled = useHeld(state.kind === 'connected' && !state.isStreaming);
  const polled = useAsk('GET /unblock-requests', {}, { enabled: isPolled, everyMs: POLL_MS });
  return (isPolled ? polled.data : data)?.length ?? 0;
}

/** Keeps the ids; the list of requests is read again if they have changed. */
export function keepUnblockRequests(store: QueryClient, ids: Ids): void {
  const known = store.getQueryData<Ids>(KEY);
  store.setQueryData(KEY, ids);
  if (known !== undefined && known.join() !== ids.join())
    void store.invalidateQueries({ queryKey: ['GET /unblock-requests'] });
}

/** Whether a condition has been true for the polling interval and the page was visible at its end. */
function useHeld(isTrue: boolean): boolean {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (!isTrue) return undefined;
    const timer = setInterval(() => setHeld(!document.hidden), POLL_MS);
    return () => {
      clearInterval(timer);
      setHeld(false);
    };
  }, [isTrue]);
  return isHeld;
}
