/**
 * Checks once a day whether there is a newer version of Weir, if `server.update_url` is set. Nothing is installed; the
 * dashboard only shows a notice to administrators. The time of the last request is stored, so that restarts do not
 * cause further requests.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoredUpdateCheck } from '../../../shared/api/updates/updates-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { hasErrorCode, reasonOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import type { FetchBounds } from '../../lists/fetch/list-host.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { isNewer, readAnswer, type Release } from './update-answer.ts';

/** Dependencies of the check. */
export interface UpdateCheckParts {
  /** `server.update_url`; empty = no requests. */
  readonly url: () => string;
  /** The running version. */
  readonly version: string;
  readonly dataDir: string;
  /** Resolves when this process owns the data directory. */
  readonly mayWrite: Promise<void>;
  readonly bounds: FetchBounds;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a number from 0 to 1, excluding 1. */
  readonly random?: () => number;
}

/** State of the check. */
export interface UpdateState {
  /** Time of the last request; null = no request yet. */
  readonly checkedAtMs: number | null;
  /** The newer release; null = the running version is the newest one, or this is unknown. */
  readonly newer: Release | null;
  /** Reason why the last request failed; null = it succeeded. */
  readonly fault: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Minutes within which the first request is sent, at a random time. */
const FIRST_MINUTES = 60;
const DAY_MINUTES = 1440;
const FILE = 'update-check.json';

/** The daily check. */
export class UpdateCheck {
  private readonly parts: UpdateCheckParts;
  private readonly random: () => number;
  private readonly stopping = new AbortController();
  /** URL to which the state below belongs. */
  private askedUrl = '';
  private dueAtMs: number | null = null;
  private checkedAtMs: number | null = null;
  private newest: Release | null = null;
  private fault: string | null = null;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(parts: UpdateCheckParts) {
    this.parts = parts;
    this.random = parts.random ?? Math.random;
  }

  /**
   * Checks every minute whether a request is due, once this process may write; returns a function that stops the
   * checks.
   */
  start(): () => Promise<void> {
    void this.parts.mayWrite.then(() => this.begin());
    return async () => {
      clearInterval(this.timer);
      this.stopping.abort();
      await this.running;
    };
  }

  /** State for the current URL. */
  state(): UpdateState {
    if (this.askedUrl !== this.parts.url()) return { checkedAtMs: null, newer: null, fault: null };
    const { checkedAtMs, newest, fault } = this;
    const newer = newest !== null && isNewer(newest.version, this.parts.version) ? newest : null;
    return { checkedAtMs, newer, fault };
  }

  /** Sends the request if it is due; resolves when the request has ended, even if it failed. */
  check(): Promise<void> {
    this.running = this.running
      .then(() => this.checkNow())
      .catch((error: unknown) => {
        this.parts.logger.warn('could not check for a new version', { reason: reasonOf(error) });
      });
    return this.running;
  }

  private begin(): void {
    if (this.stopping.signal.aborted) return;
    this.timer = setInterval(() => void this.check(), MINUTE_MS).unref();
    this.running = this.running.then(() => this.read());
    void this.check();
  }

  private async checkNow(): Promise<void> {
    const { clock } = this.parts;
    const url = this.parts.url();
    if (this.stopping.signal.aborted) return;
    if (url !== this.askedUrl) {
      this.askedUrl = url;
      this.checkedAtMs = this.newest = this.fault = null;
      this.dueAtMs = clock.nowMs() + this.randomMinutes(FIRST_MINUTES);
    }
    if (url === '' || this.dueAtMs === null) return;
    // If the clock was set back by more than a day, the due time must be set again; or else no request would be sent
    // for a long time.
    if (this.dueAtMs > clock.nowMs() + 2 * DAY_MS)
      this.dueAtMs = clock.nowMs() + this.randomMinutes(DAY_MINUTES);
    if (clock.nowMs() >= this.dueAtMs) await this.ask(url);
  }

  private async ask(url: string): Promise<void> {
    const { bounds, clock, logger } = this.parts;
    const nowMs = clock.nowMs();
    this.checkedAtMs = nowMs;
    // The next request is sent at a random minute of the next day, so that not all nodes send it at the same time.
    this.dueAtMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS + this.randomMinutes(DAY_MINUTES);
    try {
      this.newest = readAnswer(await fetchAnswer({ url, bounds, signal: this.stopping.signal }));
      this.fault = null;
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.fault = reasonOf(error);
      logger.info('could not check for a new version', { reason: this.fault });
    }
    await this.store(url);
  }

  private randomMinutes(max: number): number {
    return Math.floor(this.random() * max) * MINUTE_MS;
  }

  private async store(url: string): Promise<void> {
    const stored = {
      ...{ url, checked_at_ms: this.checkedAtMs, due_at_ms: this.dueAtMs },
      answer: this.newest === null ? null : JSON.stringify(this.newest),
    };
    await writeDurably(join(this.parts.dataDir, FILE), Buffer.from(JSON.stringify(stored)));
  }

  /**
   * Reads the state of an earlier process. If there is no state, or if it is damaged, the check begins as at the first
   * start.
   */
  private async read(): Promise<void> {
    const path = join(this.parts.dataDir, FILE);
    try {
      const text = await readFile(path, 'utf8');
      const stored = StoredUpdateCheck.parse(JSON.parse(text));
      this.newest = stored.answer === null ? null : readAnswer(stored.answer);
      this.askedUrl = stored.url;
      this.checkedAtMs = stored.checked_at_ms;
      this.dueAtMs = stored.due_at_ms;
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return;
      const reason = reasonOf(error);
      this.parts.logger.warn('could not read the state of the update check', { path, reason });
    }
  }
}
