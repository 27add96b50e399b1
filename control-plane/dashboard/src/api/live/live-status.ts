/** The connection of this page, and the state of the node that comes over it, for components. */
import { useQuery } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { refreshAll } from '../store.ts';
import { useAsk } from '../use-ask.ts';
import { Connection } from './connection.ts';
import type { ConnectionState } from './connection.ts';
import { onLostRequest } from '../lost-requests.ts';
import { followStatus, probeNode } from './status-stream.ts';
import type { NodeStatus } from './status-stream.ts';

/** Polling interval if the state cannot be streamed. */
const POLL_MS = 10_000;
const BLOCKED_NAMES = ['blocked_names'] as const;

/** Version in the last event; null = none yet. */
let policyVersion: number | null = null;
const watchers = new Set<() => void>();
let connection: Connection | null = null;
let connectionState: ConnectionState = { kind: 'connected', isStreaming: false };

/** Follows the state of the node and keeps it in the store; returns what ends that. */
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
  const look = (): void => started.check();
  const see = (): void => started.see(!document.hidden);
  see();
  const stops = [onLostRequest(look)];
  for (const event of ['online', 'offline', 'pageshow']) {
    window.addEventListener(event, look);
    stops.push(() => window.removeEventListener(event, look));
  }
  document.addEventListener('visibilitychange', see);
  return () => {
    document.removeEventListener('visibilitychange', see);
    for (const stop of stops) stop();
    started.close();
    connection = null;
  };
}

/** Looks at once whether Weir answers. */
export function checkConnection(): void {
  connection?.check();
}

/** State of the connection. */
export function useConnection(): ConnectionState {
  return useSyncExternalStore(watchConnection, () => connectionState);
}

/** Calls back when the state of the connection changes; returns what ends it. */
export function watchConnection(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The state of the node: as the stream shows it, else asked for. */
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
  // Changed here, in another tab, by another person, by a schedule: what is shown of policy is read again.
  if (policyVersion !== null && policyVersion !== version) void refreshAll(store);
  policyVersion = version;
}
