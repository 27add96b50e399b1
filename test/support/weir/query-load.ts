/** Steady load from a client that counts replies, to run while faults are injected. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../parts/until.ts';
import { UdpClient } from '../dns/dns-client.ts';

/**
 * Pause between batches. It gives 500 questions per second, which is enough to notice any gap and cheap for two cores.
 */
const PAUSE_MS = 10;
const BURST = 5;

/** A running load. */
export class Load {
  /** Replies so far. */
  readonly replies: { readonly name: string; readonly rcode: number }[] = [];
  /** Names that got no reply. */
  readonly lost: string[] = [];
  private readonly client: UdpClient;
  private readonly mark: string;
  private isOver = false;
  private isAbandoned = false;
  private serial = 0;
  private readonly running: Promise<void>;

  private constructor(client: UdpClient, mark: string) {
    this.client = client;
    this.mark = mark;
    this.running = this.run();
  }

  /** Starts to query `<serial>.<mark>.example.com`, with each serial number once. */
  static async start(dnsPort: number, mark: string): Promise<Load> {
    return new Load(await UdpClient.open(dnsPort), mark);
  }

  /** Resolves after `count` more replies. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.replies.length + count;
    await until(
      `${String(wanted)} replies to load ${this.mark}`,
      () => ({ replies: this.replies.length, lost: this.lost.length }),
      ({ replies }) => replies >= wanted,
    );
  }

  /** Sends no more questions; resolves when all are answered or timed out. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
    this.client.close();
  }

  /** Sends no more questions and does not wait for replies, because the server has ended. */
  abandon(): void {
    this.isOver = true;
    this.isAbandoned = true;
    this.client.close();
  }

  private async run(): Promise<void> {
    const open: Promise<void>[] = [];
    while (!this.isOver) {
      for (let i = 0; i < BURST; i++)
        open.push(this.ask(`${String(this.serial++)}.${this.mark}.example.com`));
      await sleep(PAUSE_MS);
    }
    await Promise.all(open);
  }

  private async ask(name: string): Promise<void> {
    try {
      const { rcode } = await this.client.ask(name, 'A');
      this.replies.push({ name, rcode });
    } catch {
      if (!this.isAbandoned) this.lost.push(name);
    }
  }
}
