/**
 * The connection of the liveness check, which also receives notifications and polls the watched expression. A
 * notification causes an immediate poll; changes whose notification is missed are found at the next regular poll.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { DatabaseUnavailable } from './database-errors.ts';
import type { DatabaseTarget } from './database-target.ts';
import type { NoticeListeners } from './notice-listeners.ts';
import { refuseOtherTables, TABLES } from './restored-tables.ts';
import { enableKeepalive } from './open-pool.ts';

/** Milliseconds between two checks, and the time limit for each. */
export const POLL_MS = 5000;
/**
 * Milliseconds between two checks while an expression is watched: `heard` if notifications arrive, `deaf` if a
 * connection pooler loses them.
 */
const WATCH_MS = { heard: 500, deaf: 250 } as const;
/** Number of polls within which a notification must arrive before Weir logs that none arrive. */
const MAX_SILENT_POLLS = 12;

/** Result of a liveness check. */
interface Look {
  readonly readOnly: string;
  readonly tables: string | null;
  readonly watched?: unknown;
}

export interface LivenessParts {
  readonly target: DatabaseTarget;
  /** Identity of the expected tables; null = any tables. */
  readonly tables: string | null;
  readonly logger: Logger;
  readonly notices: NoticeListeners;
  readonly lost: (reason: unknown) => void;
  /** Called with the connection. */
  readonly opened: (client: pg.Client) => void;
  /** Sends a notification from another session. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
}

/** One connection, from connecting until its server is lost. */
export class Liveness {
  private readonly parts: LivenessParts;
  private readonly client: pg.Client;
  private readonly connected = Promise.withResolvers<unknown>();
  /** Resolves when the next statement may run. */
  private turn = this.connected.promise;
  /** Identifies the notification that tests whether notifications arrive. */
  private readonly greeting = randomUUID();
  private isListening = false;
  private polls = 0;
  private isDue = false;
  private rest = new AbortController();

  constructor(parts: LivenessParts) {
    this.parts = parts;
    this.client = new pg.Client(parts.target.config);
    this.client.on('error', parts.lost);
    this.client.on('notification', ({ channel, payload = '' }) => this.hear(channel, payload));
    for (const channel of parts.notices.channels()) this.listen(channel);
  }

  /** Subscribes to the notifications of a channel, or unsubscribes. */
  listen(channel: string, isWanted = true): void {
    const statement = `${isWanted ? 'LISTEN' : 'UNLISTEN'} ${pg.escapeIdentifier(channel)}`;
    const { notices, notify, logger } = this.parts;
    notices.setListening(channel, false);
    const greet = async (): Promise<void> => {
      await this.ask(statement);
      notices.setListening(channel, isWanted);
      if (channel !== notices.watched?.channel) return;
      this.checkSoon();
      await notify(channel, this.greeting);
    };
    greet().catch((error: unknown) =>
      logger.debug('could not listen for notifications', { channel, reason: reasonOf(error) }),
    );
  }

  /** Connects, then calls `check` repeatedly until `ended` is aborted. */
  async keepChecking(ended: AbortSignal, check: () => Promise<void>): Promise<void> {
    ended.addEventListener('abort', () => this.rest.abort(), { once: true });
    await this.client.connect();
    await enableKeepalive(this.client);
    this.connected.resolve(undefined);
    this.parts.opened(this.client);
    while (await this.isDueBefore(ended)) await check();
  }

  /**
   * Checks whether the server responds and accepts changes; passes the value of the watched expression to the watch.
   * @throws if the server does not respond, or does not accept changes
   */
  async check(withinMs: number): Promise<void> {
    const { tables, notices } = this.parts;
    const { watched } = notices;
    const inTime = new AbortController();
    const late = sleep(withinMs, undefined, { signal: inTime.signal })
      // Waits for one turn of the event loop, because the response may have arrived while this thread was blocked.
      .then(() => turn())
      .then(() => {
        throw new DatabaseUnavailable('the database server does not answer');
      });
    try {
      const rest = watched === null ? '' : `, (${watched.expression}) AS watched`;
      const text = `SELECT current_setting('transaction_read_only') AS "readOnly", ${TABLES} AS tables${rest}`;
      const { rows } = await Promise.race([this.ask<Look>(text), late]);
      if (rows[0]?.readOnly !== 'off') throw new DatabaseUnavailable('the database server became read-only');
      if (tables !== null) refuseOtherTables(rows[0].tables, tables);
      // The watch may have ended since the statement was sent.
      if (notices.watched === watched) watched?.take(rows[0].watched);
    } finally {
      late.catch(() => undefined); // A late error is ignored, because the outcome is already known.
      inTime.abort();
    }
  }

  /** Closes the connection; errors are ignored, because it is no longer needed. */
  async end(): Promise<void> {
    await this.client.end().catch(() => undefined);
  }

  private hear(channel: string, payload: string): void {
    const { notices } = this.parts;
    if (channel === notices.watched?.channel) {
      this.isListening ||= payload === this.greeting;
      this.checkSoon();
    }
    notices.take(channel, payload);
  }

  private checkSoon(): void {
    this.isDue = true;
    this.rest.abort();
  }

  /** Waits for the next check; false if `ended` is aborted first. */
  private async isDueBefore(ended: AbortSignal): Promise<boolean> {
    const { watched } = this.parts.notices;
    if (!this.isDue && !ended.aborted) {
      this.rest = new AbortController();
      const pauseMs = watched === null ? POLL_MS : this.isListening ? WATCH_MS.heard : WATCH_MS.deaf;
      await sleep(pauseMs, undefined, { signal: this.rest.signal }).catch(() => undefined);
    }
    this.isDue = false;
    if (watched !== null && !this.isListening && ++this.polls === MAX_SILENT_POLLS)
      this.reportLostNotifications();
    return !ended.aborted;
  }

  private reportLostNotifications(): void {
    const text =
      'notifications of the database do not arrive, for example because of a connection pooler; polling ' +
      'instead';
    this.parts.logger.info(text, { every_ms: WATCH_MS.deaf });
  }

  /** Runs a statement after the previous ones. */
  private ask<Row extends pg.QueryResultRow>(text: string): Promise<pg.QueryResult<Row>> {
    const asked = this.turn.then(() => this.client.query<Row>(text));
    this.turn = asked.catch(() => undefined);
    return asked;
  }
}
