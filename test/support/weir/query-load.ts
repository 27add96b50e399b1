/** Steady questions from a client that keeps count, as a background to faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../parts/until.ts';
import { UdpClient } from '../dns/dns-client.ts';

/** 500 questions a second: enough for any gap to be seen, and cheap for a machine with two cores. */
const PAUSE_MS = 10;
const BURST = 5;

/** A load under way. */
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

  /** Starts asking for `<serial>.<mark>.example.com`, every name once. */
  static async start(dnsPort: number, mark: string): Promise<Load> {
    return new Load(await UdpClient.open(dnsPort), mark);
  }

  /** Resolves when `count` more replies have come. */
  async untilMore(count: number): Promise<void> {
    const wanted = this.replies.length + count;
    await until(
      `${String(wanted)} replies to load ${this.mark}`,
      () => ({ replies: this.replies.length, lost: this.lost.length }),
      ({ replies }) => replies >= wanted,
    );
  }

  /** Asks no more; resolves when every question has its reply or is given up. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
    this.client.close();
  }

  /** Asks no more and waits for nothing: the server is gone. */
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
