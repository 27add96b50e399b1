/**
 * Detects that the wall clock is wrong, because the machine has no battery for the clock: a correct clock shows a time
 * after the release of this version, and after the last time at which the kernel's clock was synchronised, which is
 * stored in the data directory. While the clock is wrong, the validity periods of DNSSEC signatures are ignored. If
 * validation failed, the names of time servers could not be resolved either, and the clock would stay wrong.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import { writeDurably } from '../files/durable-file.ts';
import type { KernelClock } from './kernel-clock.ts';
import { RELEASE_DATE } from './release-date.ts';

/** Name of the file in the data directory. */
export const TIME_FILE = 'last-time';

const RELEASE_MS = Date.parse(RELEASE_DATE);
const POLL_MS = 60_000;
/** Milliseconds between two writes of the time; long, because frequent writes wear out memory cards. */
const STORE_EVERY_MS = 3_600_000;

/** Dependencies of the clock floor. */
export interface ClockFloorParts {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly kernelClock: () => KernelClock;
  readonly logger: Logger;
}

/** Keeps the earliest time that a correct clock can show. One per node. */
export class ClockFloor {
  private readonly parts: ClockFloorParts;
  /** Stored time in Unix milliseconds; 0 = none. */
  private storedMs: number;
  private wasWrong = false;
  private onLowered: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  private constructor(parts: ClockFloorParts, storedMs: number) {
    this.parts = parts;
    this.storedMs = storedMs;
  }

  /** Reads the stored time, and logs if the clock is wrong. */
  static async open(parts: ClockFloorParts): Promise<ClockFloor> {
    const floor = new ClockFloor(parts, await readStoredMs(parts));
    floor.logChange();
    return floor;
  }

  /** The earliest time that can be correct, in Unix milliseconds. */
  get earliestMs(): number {
    return Math.max(RELEASE_MS, this.storedMs);
  }

  get isWrong(): boolean {
    return this.parts.clock.nowMs() < this.earliestMs;
  }

  /** Reason why the clock is wrong; null = it may be correct. */
  trouble(): string | null {
    if (!this.isWrong) return null;
    const now = new Date(this.parts.clock.nowMs()).toISOString();
    const earliest = new Date(this.earliestMs).toISOString();
    return `the clock shows ${now}, before ${earliest}: DNSSEC ignores the validity periods of signatures until it is set`;
  }

  /** Stores the time periodically; `onLowered` is called if it is found that the stored time itself is wrong. */
  start(onLowered: () => void): void {
    this.onLowered = onLowered;
    this.timer = setInterval(() => void this.check(), POLL_MS).unref();
    void this.check();
  }

  /** Stops after the running check. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /**
   * Logs whether the clock has become wrong or correct; stores the time if it is known and if it is due to be stored.
   * Never rejects.
   */
  check(): Promise<void> {
    this.running = this.running.then(() => this.checkOnce());
    return this.running;
  }

  private async checkOnce(): Promise<void> {
    const { clock, kernelClock } = this.parts;
    this.logChange();
    if (kernelClock() !== 'synchronised') return;
    const nowMs = clock.nowMs();
    if (nowMs < RELEASE_MS) return;
    const isLowered = nowMs < this.storedMs;
    if (!isLowered && nowMs - this.storedMs < STORE_EVERY_MS) return;
    this.storedMs = nowMs;
    await this.store();
    if (!isLowered) return;
    // The synchronised clock of the kernel is more reliable than the file, which may have been written while the time
    // source was wrong.
    this.parts.logger.warn('the stored time was in the future; replaced it with the current time', {
      file: TIME_FILE,
    });
    this.logChange();
    this.onLowered();
  }

  private logChange(): void {
    const { logger, clock } = this.parts;
    const { isWrong } = this;
    if (isWrong === this.wasWrong) return;
    this.wasWrong = isWrong;
    const fields = { now: new Date(clock.nowMs()).toISOString() };
    if (!isWrong) logger.info('clock was set; DNSSEC checks validity periods again', fields);
    else {
      const earliest = new Date(this.earliestMs).toISOString();
      logger.warn('clock is wrong; DNSSEC ignores the validity periods of signatures until it is set', {
        ...fields,
        earliest,
      });
    }
  }

  private async store(): Promise<void> {
    const { dataDir, logger } = this.parts;
    const text = `${new Date(this.storedMs).toISOString()}\n`;
    try {
      await writeDurably(join(dataDir, TIME_FILE), Buffer.from(text));
    } catch (error) {
      logger.warn('could not store the time', { reason: reasonOf(error) });
    }
  }
}

async function readStoredMs({ dataDir, logger }: ClockFloorParts): Promise<number> {
  const path = join(dataDir, TIME_FILE);
  try {
    const storedMs = Date.parse((await readFile(path, 'utf8')).trim());
    if (!Number.isNaN(storedMs)) return storedMs;
    logger.warn('the stored time is unreadable; ignoring it', { path });
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT'))
      logger.warn('could not read the stored time', { path, reason: reasonOf(error) });
  }
  return 0;
}
