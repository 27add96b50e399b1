/** Keeps the ids of open requests in memory, for the event stream that every page of the dashboard reads. */
import type { Clock } from '../../../shared/clock.ts';
import type { Database } from '../../storage/db/database.ts';
import { readOpen, REQUEST_LIFE_MS } from './request-store.ts';
import type { StoredRequest } from './request-store.ts';

/** Reads the requests again when this or another node has changed them. */
export class RequestWatch {
  private readonly database: Pick<Database, 'query'>;
  private readonly clock: Clock;
  private open: readonly StoredRequest[] = [];

  constructor({ database, clock }: { database: Pick<Database, 'query'>; clock: Clock }) {
    this.database = database;
    this.clock = clock;
  }

  /** Reads the open requests; called after each change of the table. */
  async follow(): Promise<void> {
    this.open = await readOpen(this.database, this.clock.nowMs());
  }

  /** Ids of the requests that have not expired, oldest first. */
  ids(): number[] {
    const sinceMs = this.clock.nowMs() - REQUEST_LIFE_MS;
    return this.open.filter(({ createdMs }) => createdMs > sinceMs).map(({ id }) => id);
  }
}
