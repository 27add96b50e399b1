/** Messages to and from the thread that explains a question with an earlier version of policy. */
import type { SnapshotBuffers } from '../snapshot/snapshot.ts';
import type { Explanation } from './explanation.ts';

/** `workerData` of the thread, which answers with one `Explanation`. */
export interface PastQuestion {
  readonly snapshot: SnapshotBuffers;
  /** The name in lower-case wire form. */
  readonly qname: Uint8Array;
  readonly qtype: number;
  /** Address of the client, 16 bytes. */
  readonly client: Uint8Array;
  /** The key with which the client identified itself, or the id of that client; absent, '' and 0 = neither. */
  readonly clientKey?: string;
  readonly clientId?: number;
}

/** Message from the thread. */
export type FromPast = Explanation;
