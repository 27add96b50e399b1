/** The log ring of a resolve thread: its records also name the client that named itself by its key. */
import { LogRecord } from '../../shared/query-log.ts';
import type { Query } from '../query/query.ts';
import { LogRingWriter } from './log-ring.ts';

/** Write side of the log ring of a thread that has queries with keys. */
export class KeyedLogRing extends LogRingWriter {
  override write(query: Query, snapshotVersion: number): void {
    const before = this.head;
    super.write(query, snapshotVersion);
    if (this.head === before) return;
    const at = (before & this.mask) * LogRecord.SIZE;
    this.words[(at + LogRecord.CLIENT_ID) >>> 2] = query.keyed?.clientId ?? 0;
  }
}
