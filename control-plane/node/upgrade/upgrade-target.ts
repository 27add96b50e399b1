/**
 * The new side of a handover: takes the sockets of the process that runs on a data directory, answers queries together
 * with it, then takes the data directory. The running side is `upgrade-source.ts`.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import { NodeState } from '../../../shared/threads/messages.ts';
import type { NodeStateCode } from '../../../shared/threads/messages.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { DataDirError, lockDataDir } from '../../storage/db/data-dir-lock.ts';
import type { DataDirLock } from '../../storage/db/data-dir-lock.ts';
import { HandoverChannel, HandoverError, numberOf, textField } from './handover-channel.ts';
import { loadDescriptorCalls } from './descriptor-calls.ts';
import { receiveDescriptors, sendDescriptors } from './descriptor-messages.ts';
import { HANDOVER_FORMAT, HANDOVER_SOCKET, SILENCE_MS } from './handover-format.ts';
import { InheritedSockets } from './inherited-sockets.ts';
import { connectUnix } from './unix-connection.ts';

/** Maximum number of bytes that accompany descriptors. */
const MAX_DATA_BYTES = 16;
/**
 * Maximum milliseconds for which a process that fails to start keeps answering queries until the running process
 * receives them again.
 */
const READ_AGAIN_MS = 5000;
/** Maximum milliseconds to wait for the lock after its holder was killed, and polling interval. */
const LOCK_MS = 2000;
const POLL_MS = 50;

/** A takeover in progress. */
export class UpgradeTarget {
  readonly lock: LaterLock;
  /** DNS port of the running process. */
  readonly dnsPort: number;
  /** Niceness of the answer threads of the running process. */
  readonly niceness: number;
  private before: NodeStateCode = NodeState.HOLDING;
  private isNeeded = false;
  private readonly talk: HandoverChannel;
  private readonly path: string;
  private readonly logger: Logger;
  private readonly silenceMs: number;

  private constructor(
    talk: HandoverChannel,
    place: { path: string; dataDir: string },
    { dnsPort, niceness }: { dnsPort: number; niceness: number },
    logger: Logger,
    silenceMs: number,
  ) {
    this.talk = talk;
    this.path = place.path;
    this.lock = new LaterLock(place.dataDir);
    this.dnsPort = dnsPort;
    this.niceness = niceness;
    this.logger = logger;
    this.silenceMs = silenceMs;
  }

  /**
   * Requests a handover from the process that runs on `dataDir`, which counts as hung if it sends nothing for
   * `silenceMs`. Throws if it refuses.
   */
  static async begin(
    dataDir: string,
    version: string,
    logger: Logger,
    silenceMs = SILENCE_MS,
  ): Promise<UpgradeTarget> {
    const path = join(dataDir, HANDOVER_SOCKET);
    const socket = connect(path);
    await once(socket, 'connect');
    const talk = new HandoverChannel(socket);
    talk.send({ type: 'take-over', format: HANDOVER_FORMAT, version, pid: process.pid });
    const welcome = await talk.expect('welcome', silenceMs);
    logger.info('taking over from a running process', { version: textField(welcome, 'version') });
    const { niceness } = welcome;
    if (typeof niceness !== 'number') throw new HandoverError('message "welcome" has no niceness');
    const running = { dnsPort: numberOf(welcome, 'dnsPort'), niceness };
    return new UpgradeTarget(talk, { path, dataDir }, running, logger, silenceMs);
  }

  /** The sockets; null if they cannot be passed, in which case both processes have their own. */
  async sockets(): Promise<InheritedSockets | null> {
    this.talk.send({ type: 'loaded' });
    const message = await this.talk.expect('sockets', this.silenceMs);
    const count = numberOf(message, 'count');
    const { nodeState, hasLeft } = message;
    this.isNeeded = hasLeft === true;
    if (nodeState === NodeState.STARTING || nodeState === NodeState.READY) this.before = nodeState;
    const loaded = loadDescriptorCalls();
    if (count === 0 || 'reason' in loaded) {
      this.logger.warn(
        'could not pass the sockets; queries that wait in the sockets of the running process may be lost',
        {
          reason: 'reason' in loaded ? loaded.reason : 'the running process has no sockets to pass',
        },
      );
      return null;
    }
    const { calls } = loaded;
    const connection = connectUnix(calls, this.path, this.silenceMs);
    try {
      const ask = `${JSON.stringify({ type: 'descriptors', ticket: textField(message, 'ticket') })}\n`;
      sendDescriptors(calls, connection, { bytes: Buffer.from(ask), descriptors: [] });
      const descriptors: number[] = [];
      while (descriptors.length < count) {
        const part = receiveDescriptors(calls, connection, MAX_DATA_BYTES);
        if (part.descriptors.length === 0) throw new Error('could not take over: some sockets are missing');
        descriptors.push(...part.descriptors);
      }
      return new InheritedSockets(calls, descriptors);
    } finally {
      calls.close(connection);
    }
  }

  /**
   * The state that the running process reports to load balancers; if it reports none, the state of a node that only
   * answers queries from its own machine.
   */
  stateBefore(): NodeStateCode {
    return this.before;
  }

  /**
   * Whether the running process has left and only answers queries from memory, so that this process must start even if
   * some of its steps fail.
   */
  get mustSucceed(): boolean {
    return this.isNeeded;
  }

  /**
   * Called when this process answers queries; resolves when it has the data directory. Throws if the handover was
   * undone.
   */
  async finish(): Promise<void> {
    try {
      this.talk.send({ type: 'reading' });
      await this.talk.expect('stopped', this.silenceMs);
      this.talk.send({ type: 'go' });
      await this.talk.expect('free', this.silenceMs);
    } catch (error) {
      await this.takeFromDead(reasonOf(error));
      return;
    }
    this.lock.take(lockDataDir(this.lock.dataDir));
  }

  /** Called when the start is complete; the other process then ends. */
  async complete(): Promise<void> {
    this.talk.send({ type: 'holding' });
    await this.untilGone();
  }

  /**
   * Called if this process cannot start. This process still answers queries; resolves when the running process receives
   * them again.
   */
  async fail(reason: string): Promise<void> {
    this.talk.send({ type: 'failed', reason });
    const isReading = new AbortController();
    void this.talk.ended().then(() => isReading.abort());
    await sleep(READ_AGAIN_MS, undefined, { signal: isReading.signal }).catch(() => undefined);
    this.talk.end();
  }

  /**
   * Waits for the end of the running process, which knows that this process owns the lock now. If it hangs, no work of
   * it is lost.
   */
  private async untilGone(): Promise<void> {
    const isGone = new AbortController();
    void this.talk.ended().then(() => isGone.abort());
    const late = sleep(this.silenceMs, true, { signal: isGone.signal }).catch(() => false);
    if (await late)
      this.logger.warn('the previous process did not end in time', { waited_ms: this.silenceMs });
    this.talk.end();
  }

  /** If the running process was killed, its lock becomes free, and this process continues alone. */
  private async takeFromDead(reason: string): Promise<void> {
    const untilMs = performance.now() + LOCK_MS;
    for (;;) {
      try {
        this.lock.take(lockDataDir(this.lock.dataDir));
        this.logger.warn('the previous process has died', { reason });
        return;
      } catch (error) {
        const isHeld = error instanceof DataDirError && error.reason === 'in_use';
        if (!isHeld) throw error;
        if (performance.now() > untilMs)
          throw new Error(`the upgrade was rolled back: ${reason}`, { cause: error });
      }
      await sleep(POLL_MS);
    }
  }
}

/** Reports to the process that runs on a data directory why its intended successor cannot start. */
export async function reportFailedStart(dataDir: string, reason: string): Promise<void> {
  const socket = connect(join(dataDir, HANDOVER_SOCKET));
  const talk = new HandoverChannel(socket);
  talk.send({ type: 'start-failed', reason });
  // If the other process does not respond, only the log contains the reason.
  await talk.next(READ_AGAIN_MS).catch(() => undefined);
  talk.end();
}

/** The lock of a data directory while another process still owns it. */
class LaterLock implements DataDirLock {
  readonly dataDir: string;
  readonly taken: Promise<void>;
  private held: DataDirLock | undefined;
  private resolve: () => void = () => undefined;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.taken = new Promise((resolve) => (this.resolve = resolve));
  }

  take(lock: DataDirLock): void {
    this.held = lock;
    this.resolve();
  }

  release(): void {
    this.held?.release();
  }
}
