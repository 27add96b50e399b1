/**
 * Stores changes of blocking (paused or enabled) that were made without a database. Such a change is only active on
 * this node, and for a limited time. It is stored in the data directory, so that it remains active after a restart,
 * together with its audit entries, until the database is available again. A later change of the state in the database
 * ends it.
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codedAction, codedSubject } from '../../../shared/policy/changes/change-codes.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import type { Author } from '../../api/caller.ts';
import { recordAudit } from '../../policy/audit/audit-store.ts';
import type { Database } from '../../storage/db/database.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { timerEndMs } from '../../policy/change/blocking-switch.ts';
import type { BlockingSwitch, PolicyRows } from '../../policy/change/rows.ts';

/** Dependencies of the local switch. */
export interface LocalSwitchParts {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The local state, and the stored state that it replaces on this node. */
interface Active {
  readonly local: BlockingSwitch;
  readonly stored: BlockingSwitch | null;
}

/** An audit entry that is not in the database yet. */
interface Entry {
  /** Time of the change in ISO 8601. */
  readonly at: string;
  readonly actor: string;
  readonly address: string | null;
  readonly before: BlockingSwitch | null;
  readonly after: BlockingSwitch;
}

/** Contents of the file. */
interface SwitchFile {
  readonly active: Active | null;
  readonly entries: readonly Entry[];
}

/** Name of the file in the data directory. */
const FILE = 'blocking-here.json';

/** The local blocking state of one node. */
export class LocalSwitch {
  private readonly parts: LocalSwitchParts;
  private readonly path: string;
  private active: Active | null = null;
  private entries: readonly Entry[] = [];
  private writing: Promise<void> = Promise.resolve();

  /** Reads the file of an earlier process. */
  constructor(parts: LocalSwitchParts) {
    this.parts = parts;
    this.path = join(parts.dataDir, FILE);
    const kept = this.read();
    if (kept !== null) ({ active: this.active, entries: this.entries } = kept);
  }

  /** Whether a local state is active on this node. */
  isActive(): boolean {
    return this.active !== null && timerEndMs(this.active.local, this.parts.clock.nowMs()) !== null;
  }

  /**
   * Enables or pauses blocking on this node until a time; `current` is the currently active state. The caller publishes
   * the rows.
   */
  use(actor: Author, enabled: boolean, until: Date, current: BlockingSwitch | null): Promise<void> {
    const stored = this.active === null ? current : this.active.stored;
    const before = stored?.enabled ?? null;
    const local: BlockingSwitch = { enabled, until: until.toISOString(), before, isLocal: true };
    this.active = { local, stored };
    const at = new Date(this.parts.clock.nowMs()).toISOString();
    const { name, address } = actor;
    this.entries = [...this.entries, { at, actor: name, address, before: current, after: local }];
    return this.save();
  }

  /** Ends the local state, so that the state in the database applies again. */
  async end(): Promise<void> {
    if (this.active === null) return;
    this.active = null;
    await this.save();
  }

  /** The rows as they apply on this node: while a local state is active, it replaces the stored one. */
  over(rows: PolicyRows): PolicyRows {
    const { active } = this;
    if (active === null) return rows;
    const stored = rows.blockingSwitch?.isLocal === true ? active.stored : rows.blockingSwitch;
    if (this.isActive() && isSame(stored, active.stored)) return { ...rows, blockingSwitch: active.local };
    // The local state has expired, or a user has changed the state in the database.
    void this.end();
    return { ...rows, blockingSwitch: stored };
  }

  /** Writes audit entries that are not in the database yet. */
  async record(database: Pick<Database, 'transaction'>): Promise<void> {
    const { entries } = this;
    if (entries.length === 0) return;
    await database.transaction(async (tx) => {
      for (const { at, actor, address, before, after } of entries)
        await recordAudit(tx, {
          actor: { name: actor, address },
          subject: codedSubject('blocking'),
          action: codedAction(after.enabled ? 'enabled_on_node' : 'paused_on_node'),
          before,
          after,
          at: new Date(at),
        });
    });
    this.entries = this.entries.slice(entries.length);
    await this.save();
  }

  /**
   * Writes the file. A failure is logged, because a restart would then end the local state and lose its audit entries.
   */
  private save(): Promise<void> {
    const { active, entries } = this;
    this.writing = this.writing.then(async () => {
      try {
        if (active === null && entries.length === 0) await rm(this.path, { force: true });
        else
          await writeDurably(
            this.path,
            Buffer.from(JSON.stringify({ active, entries } satisfies SwitchFile)),
          );
      } catch (error) {
        this.parts.logger.warn(
          'could not store the blocking state of this node; it will be lost on restart',
          {
            path: this.path,
            reason: reasonOf(error),
          },
        );
      }
    });
    return this.writing;
  }

  private read(): SwitchFile | null {
    try {
      return JSON.parse(readFileSync(this.path, 'utf8')) as SwitchFile;
    } catch (error) {
      if (!hasErrorCode(error, 'ENOENT'))
        this.parts.logger.warn('could not read the blocking state of this node', {
          path: this.path,
          reason: reasonOf(error),
        });
      return null;
    }
  }
}

function isSame(one: BlockingSwitch | null, other: BlockingSwitch | null): boolean {
  return (
    one?.enabled === other?.enabled &&
    one?.until === other?.until &&
    (one?.before ?? null) === (other?.before ?? null)
  );
}
