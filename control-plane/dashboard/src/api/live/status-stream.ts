/** Reads the stream of the node's state, and checks whether Weir responds. */
import type { EventOf } from '../../../../../shared/api/client/typed-client.ts';
import { API_BASE } from '../place.ts';
import { signedIn } from '../sign-in.ts';

/** State of the node. */
export type NodeStatus = EventOf<'GET /status/stream'>;

/** Implements `ConnectionParts.follow`. If the session has ended, waits for a login first. */
export async function followStatus(
  signal: AbortSignal,
  onEvent: (event: NodeStatus | null) => void,
): Promise<'ended' | 'refused'> {
  const response = await fetch(`${API_BASE}/status/stream`, {
    signal,
    credentials: 'same-origin',
    cache: 'no-store',
  });
  const { body } = response;
  if (body === null || typeOf(response) !== 'text/event-stream') {
    await body?.cancel();
    if (!isProblem(response)) throw new Error('something other than Weir answered');
    if (response.status === 401) await signedIn();
    return 'refused';
  }
  await readEvents(body, onEvent);
  return 'ended';
}

/**
 * Requests the node's health without the session cookie, because looking up a session may wait for the database.
 * @throws {Error}
 */
export async function probeNode(signal: AbortSignal): Promise<void> {
  const response = await fetch(`${API_BASE}/health`, { signal, credentials: 'omit', cache: 'no-store' });
  if (isProblem(response)) return;
  const answer: unknown = typeOf(response) === 'application/json' ? await response.json() : null;
  if (typeof answer !== 'object' || answer === null || !('checks' in answer))
    throw new Error('something other than Weir answered');
}

/** Reads server-sent events; only single-line `data` fields matter here. */
export async function readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onEvent: (event: NodeStatus | null) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (text + value).split('\n\n');
    text = parts.pop() ?? '';
    if (parts.length === 0) onEvent(null);
    for (const part of parts)
      onEvent(part.startsWith('data: ') ? (JSON.parse(part.slice(6)) as NodeStatus) : null);
  }
}

function typeOf(response: Response): string {
  return (response.headers.get('Content-Type') ?? '').split(';', 1)[0] ?? '';
}

/** Only Weir sends problem details; a proxy does not. */
function isProblem(response: Response): boolean {
  return typeOf(response) === 'application/problem+json';
}
