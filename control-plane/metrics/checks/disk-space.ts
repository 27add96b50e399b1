/**
 * Measures, at intervals, the free space of the disk with the data directory, and the size of the query log's spool.
 */
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { HealthCheck } from '../../../shared/api/system-api.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { folderBytes } from '../../host/files/folder-bytes.ts';

/** The last measurement. */
export interface DiskState {
  /** Number of bytes that Weir may still write, and size of the whole file system. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
  /** Whether no inode is left, so that no file can be created; some file systems have no such limit. */
  readonly hasNoInodes: boolean;
  /** Size of the spool; null = there is no spool. */
  readonly spoolBytes: number | null;
}

const MIB = 1024 ** 2;
const POLL_MS = 10_000;
/**
 * The disk is nearly full if its free space is below `share` of its size and below `bytes`, or if it is below `min`.
 */
const LOW = { share: 0.05, bytes: 1024 * MIB, min: 32 * MIB } as const;
/**
 * With less free space than this, the disk counts as full, because the database writes in units of 8 KiB and of 16 MiB.
 */
const FULL_BYTES = MIB;
/** Share of its limit above which the spool is nearly full. */
const SPOOL_SHARE = 0.5;

/** Measures one data directory. */
export class DiskSpace {
  private readonly dataDir: string;
  private readonly logger: Logger;
  private state: DiskState | null = null;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isReported = false;

  constructor(dataDir: string, logger: Logger) {
    this.dataDir = dataDir;
    this.logger = logger;
  }

  /** Starts measuring; returns a function that stops the measurements. */
  start(): () => Promise<void> {
    this.timer = setInterval(() => void this.check(), POLL_MS).unref();
    void this.check();
    return async () => {
      clearInterval(this.timer);
      await this.running;
    };
  }

  /** The last measurement; null until the first one. */
  now(): DiskState | null {
    return this.state;
  }

  /**
   * Measures once, unless a measurement is still running, for example on a file system that does not respond. Never
   * rejects.
   */
  check(): Promise<void> {
    this.running ??= this.measure().finally(() => (this.running = undefined));
    return this.running;
  }

  private async measure(): Promise<void> {
    try {
      const { bavail, blocks, bsize, files, ffree } = await statfs(this.dataDir);
      const spoolBytes = await folderBytes(join(this.dataDir, 'spool'));
      this.state = {
        freeBytes: bavail * bsize,
        sizeBytes: blocks * bsize,
        spoolBytes,
        hasNoInodes: files > 0 && ffree === 0,
      };
      this.isReported = false;
    } catch (error) {
      if (!this.isReported)
        this.logger.warn('could not measure the free disk space', { reason: reasonOf(error) });
      this.isReported = true;
    }
  }
}

/** Degraded while the disk or the spool of the query log is nearly full. `spoolLimitBytes`: size limit of the spool. */
export function diskCheck(state: DiskState | null, spoolLimitBytes: number): HealthCheck {
  if (state === null) return { status: 'ok' };
  const faults = [spaceFault(state), spoolFault(state.spoolBytes, spoolLimitBytes)].filter(
    (fault) => fault !== null,
  );
  return faults.length === 0 ? { status: 'ok' } : { status: 'degraded', detail: faults.join('; ') };
}

function spaceFault({ freeBytes, sizeBytes, hasNoInodes }: DiskState): string | null {
  if (hasNoInodes) return 'the disk of the data directory is full: it has no inodes left';
  if (freeBytes < FULL_BYTES) return 'the disk of the data directory is full';
  const low = Math.max(LOW.min, Math.min(LOW.bytes, sizeBytes * LOW.share));
  if (freeBytes >= low) return null;
  return `the disk of the data directory is nearly full: ${inMib(freeBytes)} of ${inMib(sizeBytes)} left`;
}

function spoolFault(spoolBytes: number | null, limitBytes: number): string | null {
  if (spoolBytes === null || spoolBytes <= limitBytes * SPOOL_SHARE) return null;
  return `the spool of the query log is nearly full: ${inMib(spoolBytes)} of at most ${inMib(limitBytes)}`;
}

function inMib(bytes: number): string {
  return `${Math.floor(bytes / MIB)} MiB`;
}
