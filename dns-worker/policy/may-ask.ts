/**
 * Whether a client may send queries, for use outside the stages: for messages without a question, and for connections.
 */
import { isAdmitted } from '../../shared/snapshot/client-table.ts';
import { keyedEntry } from '../../shared/snapshot/keyed-clients.ts';
import type { OpenSnapshot } from './open-snapshot.ts';

/** The client: 16 bytes of address at `clientAt`, and the key that came with the question, '' = none. */
export interface Asker {
  readonly clientBytes: Uint8Array;
  readonly clientAt: number;
  readonly clientKey: string;
}

/** Whether the client may send queries. */
export function mayAsk(asker: Asker, { clients, keys }: Pick<OpenSnapshot, 'clients' | 'keys'>): boolean {
  const entry = clients.findOf(asker);
  const keyed = asker.clientKey === '' ? null : keys.find(asker.clientKey);
  return isAdmitted(keyed === null ? entry : keyedEntry(keyed, entry));
}
