/** Steady load of clients that each send one question at a time, count the answers, and retry as stub resolvers do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until, within } from '../parts/until.ts';
import { Reply, query } from '../dns/dns-message.ts';
import { askOverTcp, UdpClient } from '../dns/dns-client.ts';
import { DohClient } from '../dns/doh-client.ts';
import { DotClient } from '../dns/dot-client.ts';

/** A connection with one question at a time. */
export interface LoadConnection {
  ask(name: string): Promise<Reply>;
  close(): void;
}

/** Opens a connection. */
export type OpenLoadConnection = () => Promise<LoadConnection>;

/** Default pause of a client between an answer and its next question. */
const PAUSE_MS = 25;

/** Time-out of a question before the client retries, milliseconds. */
const TIMEOUT_MS = 3000;

/** Number of attempts, as in common stub resolvers. */
const ATTEMPTS = 3;

/** Sends all questions over one socket. */
export const overUdp =
  (port: number): OpenLoadConnection =>
  async () => {
    const client = await UdpClient.open(port);
    return { ask: (name) => client.ask(name, 'A'), close: () => client.close() };
  };

/** Opens a connection for each question. */
export const overTcp =
  (port: number): OpenLoadConnection =>
  async () => ({ ask: (name) => askOverTcp(port, name, 'A'), close: () => undefined });

/** Sends all questions over one connection. */
export const overDot =
  (port: number): OpenLoadConnection =>
  async () => {
    const client = await DotClient.open(port);
    return { ask: (name) => client.ask(name, 'A'), close: () => client.close() };
  };

/** Sends the load over HTTPS. */
export const overDoh =
  (port: number): OpenLoadConnection =>
  async () => {
    const client = new DohClient(port);
    return {
      ask: async (name) => new Reply((await client.get(query(name, 'A'))).body, ''),
      close: () => client.session.destroy(),
    };
  };

/**
 * The response code. Throws if no response arrives in time, for example when an HTTP/2 stream ends without a response.
 */
async function answerOf(connection: LoadConnection, name: string): Promise<number> {
  const asked = connection.ask(name);
  // `Promise.race` reports a failure in time; a later failure does not matter.
  asked.catch(() => undefined);
  const reply = await Promise.race([asked, sleep(TIMEOUT_MS)]);
  if (reply === undefined) throw new Error(`ask: no answer about ${name} in time`);
  return reply.rcode;
}

/** A running load. */
export class PatientLoad {
  /** Response codes so far. */
  readonly rcodes: number[] = [];
  /** Names for which no attempt was answered. */
  readonly lost: string[] = [];
  /** Names that were retried because their connection ended before the answer. */
  readonly retried: string[] = [];
  private readonly open: OpenLoadConnection;
  private readonly mark: string;
  private readonly pauseMs: number;
  private isOver = false;
  private readonly running: Promise<void>;

  /** Starts to query `<serial>.<mark>.example.com`. */
  constructor(open: OpenLoadConnection, mark: string, pauseMs = PAUSE_MS) {
    this.open = open;
    this.mark = mark;
    this.pauseMs = pauseMs;
    this.running = this.run();
  }

  /** Resolves after `count` more replies. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.rcodes.length + count;
    await until(
      `${String(wanted)} replies to load ${this.mark}`,
      () => this.counts(),
      ({ replies }) => replies >= wanted,
    );
  }

  /** Sends no more questions; resolves when all are answered or timed out. */
  async stop(): Promise<void> {
    this.isOver = true;
    await within(`the end of load ${this.mark}`, this.running, { lastSeen: () => this.counts() });
  }

  private counts(): { replies: number; retried: number; lost: readonly string[] } {
    return { replies: this.rcodes.length, retried: this.retried.length, lost: this.lost };
  }

  private async run(): Promise<void> {
    let connection = await this.open();
    for (let serial = 0; !this.isOver; serial++) {
      const name = `${String(serial)}.${this.mark}.example.com`;
      for (let attempt = 1; ; attempt++) {
        try {
          this.rcodes.push(await answerOf(connection, name));
          break;
        } catch {
          connection.close();
          connection = await this.open().catch(() => connection);
          if (attempt === 1) this.retried.push(name);
          if (attempt < ATTEMPTS) continue;
          this.lost.push(name);
          break;
        }
      }
      await sleep(this.pauseMs);
    }
    connection.close();
  }
}
