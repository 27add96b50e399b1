/** An embedded database that hangs: all its processes are stopped with a signal, so it answers no client. */
import { join } from 'node:path';
import { serversOn } from '../../../control-plane/storage/db/postgres/postgres-process.ts';
import type { Weir } from './weir-process.ts';

/** Stays stopped until it is disposed of, which kills the remaining processes. */
export class HungDatabase {
  readonly cluster: string;
  readonly pids: readonly number[];

  private constructor(cluster: string, pids: readonly number[]) {
    this.cluster = cluster;
    this.pids = pids;
  }

  /** Makes the database of a Weir server hang. */
  static of(weir: Weir): HungDatabase {
    const cluster = join(weir.tempDir.dataDir, 'postgres', 'cluster');
    // Stops the postmaster first, because it starts the other processes.
    const parent = weir.databasePid;
    process.kill(parent, 'SIGSTOP');
    const pids = serversOn(cluster);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return new HungDatabase(cluster, pids);
  }

  [Symbol.dispose](): void {
    const left = new Set(serversOn(this.cluster));
    for (const pid of this.pids) if (left.has(pid)) process.kill(pid, 'SIGKILL');
  }
}
