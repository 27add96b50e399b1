/**
 * The WAL position of a server, and the last position that this node has recorded in its data directory. With this
 * record, the node detects an old primary or an older copy of the server whose rows it has seen. To use an older copy
 * intentionally, delete the file.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../../shared/log.ts';
import { errorCode, hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import type { Queryable } from './queryable.ts';

/** WAL position of a server. */
export interface ServerPosition {
  /** System identifier, which all copies of a server share. */
  readonly system: string;
  /** WAL timeline: a standby begins a new timeline when it is promoted, as does a point-in-time recovery. */
  readonly timeline: number;
  /** End of the WAL on disk, in bytes. */
  readonly position: number;
}

/** The WAL position as JSON; null on a standby. */
const QUESTION = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN json_build_object(
  'system', (SELECT system_identifier::text FROM pg_control_system()),
  'timeline', ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer,
  'position', pg_current_wal_flush_lsn() - '0/0') END AS "serverPosition"`;
/** SQLSTATEs of a role that lacks the privilege, and of a PostgreSQL-compatible service without these functions. */
const NOT_REPORTED = /^(42501|42883|0A000)$/;

/** Tolerance in bytes: a crash may truncate the last record of the WAL, which is shorter than this. */
const CUT_BYTES = 1_048_576;

/** Queries the WAL position of a server; null = a standby, or the server does not report it. */
export async function queryPosition(client: Queryable): Promise<ServerPosition | null> {
  try {
    return (await client.query<{ serverPosition: ServerPosition | null }>(QUESTION)).rows[0]!.serverPosition;
  } catch (error) {
    if (NOT_REPORTED.test(errorCode(error))) return null;
    throw error;
  }
}

/** Whether a server lacks data that another copy of the server has already written. */
export function isBehind(one: ServerPosition, seen: ServerPosition): boolean {
  if (one.timeline !== seen.timeline) return isOnOlderTimeline(one, seen);
  return one.system === seen.system && one.position < seen.position - CUT_BYTES;
}

/** Whether another copy has replaced this server, if both report their position. */
export function isOnOlderTimeline(one: ServerPosition | null, other: ServerPosition | null): boolean {
  if (one === null || other === null) return false;
  return one.system === other.system && one.timeline < other.timeline;
}

/** The position that is recorded in one data directory. */
export class SeenServer {
  /** The file, which an administrator may delete. */
  readonly path: string;
  private readonly logger: Logger;
  private seen: ServerPosition | null = null;
  /** Whether the file contains the latest position, or one close to it. */
  private isKept = true;
  private isReported = true;
  private writing: Promise<void> = Promise.resolve();

  constructor(dataDir: string, logger: Logger) {
    this.path = join(dataDir, 'database-seen.json');
    this.logger = logger;
  }

  /** The last position seen; null = none, or an administrator has deleted the file. */
  load(): ServerPosition | null {
    if (this.isKept) this.seen = this.read();
    return this.seen;
  }

  /**
   * Records the position of the server in use; writes run one after another. Null = the server does not report its
   * position.
   */
  note(serverPosition: ServerPosition | null): Promise<void> {
    if (serverPosition !== null) this.writing = this.writing.then(() => this.save(serverPosition));
    else if (this.isReported)
      this.logger.warn(
        'the server does not report its WAL position; Weir cannot distinguish an old primary from a new one',
      );
    this.isReported = serverPosition !== null;
    return this.writing;
  }

  private async save(serverPosition: ServerPosition): Promise<void> {
    const before = this.load();
    if (before !== null && before.system !== serverPosition.system)
      this.logger.warn('the database was replaced; using the data of the new database');
    this.seen = serverPosition;
    const isNews =
      before?.system !== serverPosition.system ||
      before.timeline !== serverPosition.timeline ||
      before.position < serverPosition.position - CUT_BYTES;
    if (this.isKept && !isNews) return;
    try {
      await writeDurably(this.path, Buffer.from(`${JSON.stringify(serverPosition)}\n`));
      this.isKept = true;
    } catch (error) {
      const { path } = this;
      if (this.isKept)
        this.logger.warn('could not store the last seen WAL position of the database server', {
          path,
          reason: reasonOf(error),
        });
      this.isKept = false;
    }
  }

  private read(): ServerPosition | null {
    try {
      const { system, timeline, position } = JSON.parse(readFileSync(this.path, 'utf8')) as ServerPosition;
      if (typeof system === 'string' && Number.isInteger(timeline) && Number.isFinite(position))
        return { system, timeline, position };
      throw new Error('the file was not written by Weir');
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return null;
      this.isKept = false; // The file does not contain the position until the next write.
      this.logger.warn('could not read the position of the database server', {
        path: this.path,
        reason: reasonOf(error),
      });
      return this.seen;
    }
  }
}
