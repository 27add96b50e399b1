/** Reports damaged blocks, each once an hour: every question about their time meets them. */
import type { Logger } from '../../../shared/log.ts';

/** Milliseconds between two reports of one block. */
const REPORT_EVERY_MS = 3_600_000;

/** Blocks that were reported. */
export class DamageReport {
  private readonly logger: Logger;
  private readonly reportedMs = new Map<string, number>();

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Reports a block that cannot be read. */
  report(block: string, reason: string): void {
    const nowMs = performance.now();
    if (nowMs - (this.reportedMs.get(block) ?? -Infinity) < REPORT_EVERY_MS) return;
    this.reportedMs.set(block, nowMs);
    this.logger.error('read query log: a block is damaged and left out', { block, reason });
  }
}
