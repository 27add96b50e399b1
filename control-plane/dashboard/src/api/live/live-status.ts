/** The connection of this page and the node state that it receives, for components. */
import { useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { refreshAll } from '../store.ts';
import { useAsk } from '../use-ask.ts';
import { Connection } from './connection.ts';
import type { ConnectionState } from './connection.ts';
import { onLostRequest } from '../lost-requests.ts';
import { keepUnblockRequests } from './unblock-requests.ts';
import { followStatus, probeNode } from './status-stream.ts';
import type { NodeStatus } from './status-stream.ts';

/** Interval of requests while the state cannot be streamed. */
const POLL_MS = 10_000;
const BLOCKED_NAMES = ['blocked_names'] as const;

/** Policy version in the last event; null before the first event. */
let policyVersion: number | null = null;
const watchers = new Set<() => void>();
let connection: Connection | null = null;
let connectionState: ConnectionState = { kind: 'connected', isStreaming: false };

/** Follows the state of the node and keeps it in the store; returns a function that ends the connection. */
export function startConnection(store: QueryClient): () => void {
  const started = new Connection({
    follow: followStatus,
    probe: probeNode,
    onEvent: (status) => keep(store, status),
    onState: (state) => {
      connectionState = state;
      for (const watcher of watchers) watcher();
    },
    onBack: () => void store.invalidateQueries(),
    nowMs: () => Date.now(),
    later: (run, ms) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
  connection = started;
  const check = (): void => started.check();
  const see = (): void => started.see(!document.hidden);
  see();
  const stops = [onLostRequest(check)];
  for (const event of ['online', 'offline', 'pageshow']) {
    window.addEventListener(event, check);
    stops.push(() => window.removeEventListener(event, check));
  }
  document.addEventListener('visibilitychange', see);
  return () => {
    document.removeEventListener('visibilitychange', see);
    for (const stop of stops) stop();
    started.close();
    connection = null;
  };
}

/** Checks at once whether Weir responds. */
export function checkConnection(): void {
  connection?.check();
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(watchConnection, () => connectionState);
}

/** Calls `watcher` when the state of the connection changes; returns a function that removes the watcher. */
export function watchConnection(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** State of the node, from the stream if it is open; if not, by polling. */
export function useNodeStatus() {
  const state = useConnection();
  const isLost = state.kind === 'lost';
  const options = isLost || state.isStreaming ? { staleMs: Infinity } : { everyMs: POLL_MS };
  const health = useAsk('GET /health', {}, options);
  const blocking = useAsk('GET /blocking', {}, options);
  const { data: blockedNames = null } = useQuery<number | null>({
    queryKey: BLOCKED_NAMES,
    queryFn: () => null,
    enabled: false,
  });
  return { health, blocking, blockedNames, isLost };
}

function keep(store: QueryClient, status: NodeStatus): void {
  const { health, blocking, blocked_names: names, policy_version: version } = status;
  store.setQueryData(['GET /health', {}], health);
  store.setQueryData(['GET /blocking', {}], blocking);
  store.setQueryData(BLOCKED_NAMES, names);
  keepUnblockRequests(store, status.unblock_requests);
  // This page, another tab, another user or a schedule changed the policy: refresh everything that depends on it.
  if (policyVersion !== null && policyVersion !== version) void refreshAll(store);
  policyVersion = version;
}
