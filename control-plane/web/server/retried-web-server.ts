/** A web server whose failure does not affect DNS: while it cannot listen, it retries and health reports the reason. */
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { type WebServer, WebServerError } from '../edge/server.ts';

/** Dependencies for listening. */
export interface RetriedListening {
  /** Listens once. @throws {WebServerError} */
  readonly listen: () => Promise<WebServer>;
  /** Called when the server listens. */
  readonly listening: (server: WebServer) => void;
  /** Whether to throw the first failure, as in a process that takes over from a process with a working web server. */
  readonly isStrict?: boolean;
  /** Milliseconds between two attempts; 5 s by default. */
  readonly retryMs?: number;
}

const RETRY_MS = 5000;

/** Listens after `start()` or a later attempt; until then it has no endpoints. */
export class RetriedWebServer implements WebServer {
  private readonly logger: Logger;
  private server: WebServer | undefined;
  private fault: string | null = null;
  private attempt: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private listening: RetriedListening | undefined;
  /** Whether the server is closed or paused, so that there are no further attempts. */
  private isHalted = false;

  constructor(logger: Logger) {
    this.logger = logger;
  }

  /** Tries once; if the server cannot listen, further attempts follow. */
  async start(listening: RetriedListening): Promise<void> {
    this.listening = listening;
    try {
      this.use(await listening.listen());
    } catch (error) {
      if (listening.isStrict === true || !(error instanceof WebServerError)) throw error;
      this.logger.error('the web server is not listening; DNS works without it', {
        reason: error.message,
        retry_secs: this.retryMs / 1000,
      });
      this.fault = error.message;
      this.later();
    }
  }

  /** Reason why the server does not listen; null if it listens. */
  trouble(): string | null {
    return this.fault;
  }

  get endpoints(): WebServer['endpoints'] {
    return this.server?.endpoints ?? [];
  }

  descriptors(): readonly number[] {
    return this.server?.descriptors() ?? [];
  }

  async close(): Promise<void> {
    await this.halt();
    await this.server?.close();
  }

  async pause(copy: (descriptor: number) => number): Promise<readonly number[]> {
    await this.halt();
    return (await this.server?.pause(copy)) ?? [];
  }

  resume(): void {
    this.isHalted = false;
    if (this.server === undefined) this.later();
    else this.server.resume();
  }

  private get retryMs(): number {
    return this.listening?.retryMs ?? RETRY_MS;
  }

  private use(server: WebServer): void {
    this.server = server;
    this.fault = null;
    this.listening?.listening(server);
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.attempt = this.tryAgain();
    }, this.retryMs);
  }

  private async tryAgain(): Promise<void> {
    try {
      this.use(await this.listening!.listen());
    } catch (error) {
      this.fault = reasonOf(error);
      if (!this.isHalted) this.later();
    }
  }

  /** Resolves when no attempt is running, and none follows. */
  private async halt(): Promise<void> {
    this.isHalted = true;
    clearTimeout(this.timer);
    await this.attempt;
  }
}
