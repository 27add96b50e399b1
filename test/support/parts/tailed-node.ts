/** A node whose log is tailed over real HTTP and PostgreSQL; each test of the suite gets a new node. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { authRoutes } from '../../../control-plane/web/auth/auth-routes.ts';
import { claimNode, nodeIdOf } from '../../../control-plane/storage/cluster/node-store.ts';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { BLOCK_CHANNEL } from '../../../control-plane/query-log/store/block-store.ts';
import { LogWriter } from '../../../control-plane/query-log/store/log-writer.ts';
import type { QueryLogPrivacy } from '../../../control-plane/query-log/store/privacy.ts';
import { LiveTail } from '../../../control-plane/query-log/tail/live-tail.ts';
import { ownRowsOf } from '../../../control-plane/query-log/tail/own-rows.ts';
import { queryStreamRoutes } from '../../../control-plane/query-log/tail/query-stream-routes.ts';
import { EventReader } from './event-reader.ts';
import { logRow } from './log-row.ts';
import { RunningApi, type Rows } from './running-api.ts';
import { emptyLog } from './stored-log.ts';
import { makeTempDir, startTestDatabase, type TestDatabase } from './test-database.ts';
import { until } from './until.ts';

/** Time of the first row of a test. */
export const NOON = Date.UTC(2026, 6, 5, 12);

/** The node, named `node-a`; the cluster also has a `node-b`. */
export class TailedNode {
  own!: TestDatabase;
  api!: RunningApi;
  writer!: LogWriter;
  tail!: LiveTail;
  privacy: QueryLogPrivacy = 'full';
  /** Whether the tail receives rows. */
  isShown = false;
  /** The tail waits for this promise before it reads from the database. */
  gate: Promise<unknown> = Promise.resolve();
  private readonly readers: EventReader[] = [];
  private readonly dirs: string[] = [];

  /** Registers the hooks of the suite. */
  constructor() {
    beforeAll(async () => {
      this.own = await startTestDatabase();
      for (const name of ['node-a', 'node-b']) {
        const [uuid, run] = [randomUUID(), randomUUID()];
        await claimNode(this.own.database, { name, version: '1', uuid, run }, true);
      }
    });
    beforeEach(async () => {
      this.privacy = 'full';
      this.gate = Promise.resolve();
      await emptyLog(this.own.database);
      await this.start();
    });
    afterEach(() => this.stop());
    afterAll(() => this.own.stop());
  }

  /** Serves the routes of the tail and of sessions. */
  async start(toml?: string): Promise<void> {
    this.isShown = false;
    const options = toml === undefined ? {} : { toml };
    this.api = await RunningApi.start(this.own.database, this.rows, options);
  }

  async stop(): Promise<void> {
    for (const reader of this.readers.splice(0)) reader.close();
    await this.tail.close();
    await this.writer.close();
    await this.api.close();
    for (const dir of this.dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  }

  /** Opens a stream of the log. */
  async open(query = '', session = '', headers: Record<string, string> = {}): Promise<EventReader> {
    const cookie: Record<string, string> = session === '' ? {} : { cookie: `svc_session=${session}` };
    const reader = await EventReader.open(this.api.port, query, { ...cookie, ...headers });
    this.readers.push(reader);
    return reader;
  }

  /** Resolves when the tail listens for the blocks of other nodes. */
  async untilListening(): Promise<void> {
    await until('the tail to listen for blocks of other nodes', () =>
      this.own.database.isListening(BLOCK_CHANNEL),
    );
  }

  /** Logs `count` answered queries, numbered by their response times, starting at `from`. */
  append(from: number, count: number, change: Parameters<typeof logRow>[0] = {}): void {
    for (let i = from; i < from + count; i++)
      this.writer.append(logRow({ timestampMs: NOON + i, responseTimeUs: i, ...change }));
  }

  private readonly rows: Rows = (parts) => {
    const { database, logger } = parts;
    const { sessions } = parts.auth;
    const nodeId = nodeIdOf('node-a');
    const dataDir = join(makeTempDir(), 'data');
    this.dirs.push(join(dataDir, '..'));
    this.writer = new LogWriter({ database, dataDir, nodeId, logger, privacy: () => this.privacy });
    const show = this.writer.show.bind(this.writer);
    this.writer.show = (tap) => {
      this.isShown = tap !== null;
      show(tap);
    };
    const gated = Object.assign(Object.create(database) as Database, {
      query: async (text: string, values?: readonly unknown[]) => {
        await this.gate;
        return database.query(text, values);
      },
    });
    this.tail = new LiveTail({
      database: gated,
      ownRows: ownRowsOf(this.writer),
      sessions,
      node: 'node-a',
      nodeId,
      hostnameOf: (address) => `host ${address}`,
      logger,
      // A stream ends if its session is not looked up within 50 ticks, which are two seconds.
      tickMs: 40,
    });
    return [...queryStreamRoutes({ ...parts, tail: this.tail }), ...authRoutes(parts)];
  };
}

/** Numbers of the received rows, see `append()`. */
export function numbersOf(reader: EventReader): number[] {
  return reader.rows.map((row) => row.response_time_us);
}

/** The numbers from `from` to `end` - 1. */
export function upTo(end: number, from = 0): number[] {
  return Array.from({ length: end - from }, (_, i) => from + i);
}
