/**
 * `Prefer: wait=SECS` of RFC 7240 for changes: the response is sent when every node has applied the change, or after
 * this many seconds, and then names the nodes that have not. Other preferences are ignored, and so is `wait` if there
 * is nothing to wait for: the response then has no `Preference-Applied`.
 */
import type { Request, Response } from 'express';
import { DatabaseUnavailable } from '../../storage/db/database-errors.ts';

/** Maximum wait in seconds: a proxy may end a longer one. */
const MAX_SECS = 30;

/**
 * Resolves when all nodes have applied everything that was committed before the call, or after `withinMs`; the result
 * names the nodes that have not applied it.
 */
export type WaitForNodes = (withinMs: number, gone: AbortSignal) => Promise<string[]>;

/** Requested number of seconds to wait, or null; the first `wait` preference applies, as in section 2 of the RFC. */
export function preferredWaitSecs(field: string | undefined): number | null {
  for (const preference of field?.split(',') ?? []) {
    const [, secs] = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/iu.exec(preference) ?? [];
    if (secs !== undefined) return Math.min(Number(secs), MAX_SECS);
  }
  return null;
}

/** Waits if the request prefers to wait, and sets the header fields that report the result. */
export async function waitAsPreferred(
  request: Request,
  response: Response,
  waitForNodes: WaitForNodes,
): Promise<void> {
  const secs = preferredWaitSecs(request.get('Prefer'));
  if (secs === null || response.headersSent) return;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const behind = await waitForNodes(secs * 1000, gone.signal);
    response.set('Preference-Applied', `wait=${secs}`);
    // Names may contain any characters; a header field has only ASCII.
    if (behind.length > 0) response.set('Weir-Nodes-Behind', behind.map(encodeURIComponent).join(', '));
  } catch (error) {
    // The change is active on this node, but without the database nothing is known about other nodes.
    if (!(error instanceof DatabaseUnavailable)) throw error;
  }
}
