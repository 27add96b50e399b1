/**
 * The running side of a handover: another process of the same user takes over the sockets, then the data directory, and
 * this one ends. Each step can be taken back until the lock of the data directory is let go; from then on another process
 * of this very release is started for it. What the steps do to the parts of a node is `start-handover.ts`.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../shared/log.ts';
import { NodeState } from '../../shared/threads/messages.ts';
import type { NodeStateCode } from '../../shared/threads/messages.ts';
import { reasonOf } from '../../shared/thrown.ts';
import { listenPrivately } from '../files/private-socket.ts';
import { Conversation, ConversationError, numberOf, textOf } from './conversation.ts';
import type { Told } from './conversation.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { MAX_DESCRIPTORS, peerUser, sendDescriptors } from './descriptor-messages.ts';
import { descriptorOf } from './descriptor-of.ts';
import { HANDOVER_FORMAT, HANDOVER_SOCKET, SILENCE_MS } from './handover-format.ts';
import { endWithin, OWN_RELEASE, startSuccessor, successorEnd } from './successor.ts';

/** What a handover does to the running node. */
export interface HandoverParts {
  readonly logger: Logger;
  readonly version: string;
  readonly dnsPort: number;
  /** Of the threads that answer. */
  readonly niceness: number;
  /** What the node says of itself to load balancers. */
  nodeState(): NodeStateCode;
  /** The file that this process was started with; null = none. */
  readonly configFile: string | null;
  /** Null where descriptors cannot be passed. */
  readonly calls: DescriptorCalls | null;
  /** After which the other process counts as hung, milliseconds; 20 s unless given. */
  readonly silenceMs?: number;
  /** The folder that this process was started from; that of this file unless given. */
  readonly ownRelease?: string;
  /** Accepts no more calls of the API, and has on disk what is in force. Returns the descriptors of all sockets. */
  prepare(): Promise<readonly number[]>;
  /** Answers what is in flight, and reads no more. */
  stopReading(): Promise<void>;
  /** Takes back both, as far as they have come. */
  readAgain(): Promise<void>;
  /** Stops all else; the lock of the data directory is free then. */
  leave(): Promise<void>;
  /** Answers again while it leaves, or after that, until another process does: from memory, without a log. */
  answerMeanwhile(): void;
  /** Ends this process; `pid` goes on. */
  gone(pid: number): void;
}

/** Milliseconds for the first message of a connection, and for the end of a process that failed, or is told to stop. */
const FIRST_MS = 2000;
const STOP_MS = 5000;
/** Pause before a process is started again for a data directory that was left. */
const RESCUE_PAUSE_MS = 1000;

/** Hands over to whoever asks for it at the socket in the data directory. */
export class HandingOver {
  private readonly parts: HandoverParts;
  private readonly server: Server;
  /** The command that asked for the upgrade, and the process that was started for it. */
  private watcher: Conversation | undefined;
  private successor: ChildProcess | undefined;
  /** Ends a process that was started and says nothing at all. */
  private late: NodeJS.Timeout | undefined;
  private lastFailure: string | undefined;
  private isRescuing = false;
  private isUnderWay = false;
  private isOver = false;
  /** With the process that takes over. */
  private talk: Conversation | undefined;
  /** Resolves when the last handover has succeeded or was taken back. */
  private attempt: Promise<void> = Promise.resolve();
  /** Resolves when the node is stopped, but for its sockets; undefined = it goes on. */
  private leaving: Promise<void> | undefined;
  /** The same where Weir was told to stop. */
  private ending: Promise<void> | undefined;
  private descriptors: readonly number[] = [];
  /** Of the node before it left. */
  private nodeState: NodeStateCode = NodeState.HOLDING;
  private ticket = '';

  private constructor(parts: HandoverParts) {
    this.parts = parts;
    this.server = createServer((socket) => void this.converse(socket));
  }

  /** Listens from now on. */
  static async start(parts: HandoverParts, dataDir: string): Promise<HandingOver> {
    const path = join(dataDir, HANDOVER_SOCKET);
    const handing = new HandingOver(parts);
    try {
      await listenPrivately(handing.server, path);
    } catch (error) {
      parts.logger.warn('listen for upgrades failed; an upgrade needs a restart', {
        path,
        reason: reasonOf(error),
      });
    }
    handing.server.on('error', (error) =>
      parts.logger.error('listen for upgrades', { reason: error.message }),
    );
    return handing;
  }

  /** Listens no more; a node that has left goes on listening until its successor holds the lock. */
  close(): void {
    if (this.leaving === undefined || this.isOver) this.server.close();
  }

  /**
   * Called when Weir is told to stop, and has when `stopped` resolves. So is a process that was started to take over: it
   * finds the lock free then, stores what it has and ends. One that somebody else has started goes on by itself.
   */
  async end(stopped: Promise<void>): Promise<void> {
    this.ending = stopped;
    const { successor } = this;
    if (successor === undefined) return;
    successor.kill('SIGTERM');
    const ended = endWithin(successor, STOP_MS);
    await stopped;
    this.talk?.end();
    await ended;
  }

  /** Kills the process that was started to take over. */
  endAtOnce(): void {
    this.successor?.kill('SIGKILL');
  }

  private async converse(socket: Socket): Promise<void> {
    const talk = new Conversation(socket);
    try {
      this.checkUser(socket);
      const first = await talk.next(FIRST_MS);
      if (first.type === 'upgrade') await this.upgrade(talk, textOf(first, 'release'));
      else if (first.type === 'take-over') await this.handOver(talk, first);
      else if (first.type === 'descriptors') this.give(socket, textOf(first, 'ticket'));
      else throw new ConversationError(`nothing is known of "${first.type.slice(0, 40)}"`);
    } catch (error) {
      const reason = reasonOf(error);
      this.parts.logger.warn('refused at the handover socket', { reason });
      talk.tell({ type: 'failed', reason });
    } finally {
      talk.end();
    }
  }

  /** The file's permissions say the same, but for a folder of other permissions in an old kernel or container. */
  private checkUser(socket: Socket): void {
    if (this.parts.calls === null) return;
    const user = peerUser(this.parts.calls, descriptorOf(socket));
    if (user !== 0 && user !== process.getuid?.())
      throw new ConversationError(`user ${String(user)} is not the one that runs Weir`);
  }

  /** Starts a process of the release and tells the command how that one fares. */
  private async upgrade(talk: Conversation, release: string): Promise<void> {
    if (this.isUnderWay || this.successor !== undefined)
      throw new ConversationError('another upgrade is under way');
    if (process.pid === 1)
      throw new ConversationError(
        'this process is the first of its container: start the new container with "start --take-over"',
      );
    const child = this.launch(release);
    this.successor = child;
    this.watcher = talk;
    try {
      this.step(`process ${String(child.pid ?? '')} of ${release} starts`);
      const reason = await successorEnd(child);
      // The handover may just be taken back, which says more.
      await this.attempt;
      if (this.ending === undefined) talk.tell({ type: 'failed', reason: this.lastFailure ?? reason });
    } finally {
      this.watcher = undefined;
      // Another one may have been started for what this one has left undone.
      if (this.successor === child) this.successor = undefined;
      this.lastFailure = undefined;
    }
  }

  /** Starts a process, which is ended where it does not come to ask for the sockets. */
  private launch(release: string): ChildProcess {
    if (this.ending !== undefined) throw new ConversationError('the running server is stopping');
    const { configFile, silenceMs = SILENCE_MS } = this.parts;
    const child = startSuccessor(release, configFile);
    clearTimeout(this.late);
    this.late = setTimeout(() => {
      this.lastFailure = `the new process says nothing for ${String(silenceMs / 1000)} s, and was ended`;
      child.kill('SIGKILL');
    }, silenceMs);
    for (const end of ['exit', 'error']) child.once(end, () => clearTimeout(this.late));
    return child;
  }

  private async handOver(talk: Conversation, hello: Told): Promise<void> {
    if (this.isUnderWay) throw new ConversationError('another upgrade is under way');
    const format = textOf(hello, 'format');
    if (format !== HANDOVER_FORMAT)
      throw new ConversationError(
        `the running release speaks "${HANDOVER_FORMAT}", this one "${format.slice(0, 40)}": restart instead`,
      );
    this.isUnderWay = true;
    clearTimeout(this.late);
    this.talk = talk;
    this.attempt = this.lead(talk, textOf(hello, 'version'), numberOf(hello, 'pid'))
      .catch((error: unknown) => this.takeBack(talk, reasonOf(error)))
      .finally(() => (this.isUnderWay = false));
    await this.attempt;
  }

  /** All steps, in order. */
  private async lead(talk: Conversation, version: string, pid: number): Promise<void> {
    const { parts } = this;
    const { silenceMs = SILENCE_MS } = parts;
    parts.logger.info('hand over to another process', { pid, version });
    talk.tell({ type: 'welcome', version: parts.version, dnsPort: parts.dnsPort, niceness: parts.niceness });
    await talk.expect('loaded', silenceMs);
    this.step(`release ${version} is loaded`);
    if (this.leaving === undefined) {
      this.descriptors = await parts.prepare();
      this.nodeState = parts.nodeState();
    }
    this.ticket = randomBytes(16).toString('hex');
    const { ticket, nodeState } = this;
    talk.tell({ type: 'sockets', ticket, count: this.descriptors.length, nodeState });
    await talk.expect('reading', silenceMs);
    this.step('it answers, beside this one');
    await Promise.race([parts.stopReading(), talk.ended()]);
    // One that hangs would not say so.
    talk.tell({ type: 'stopped' });
    await talk.expect('go', silenceMs);
    this.leaving ??= this.leave();
    await Promise.race([this.leaving, talk.ended()]);
    talk.tell({ type: 'free' });
    await talk.expect('holding', silenceMs);
    // The file of its socket stays: where this one was late, it is the other process's.
    this.isOver = true;
    this.step('it has the data directory');
    // Else whoever has told this process to stop waits for its end.
    if (this.ending !== undefined) return;
    this.watcher?.tell({ type: 'done', pid, version });
    parts.gone(pid);
  }

  private async leave(): Promise<void> {
    this.step('all that was in flight is answered');
    try {
      await this.parts.leave();
      this.step('the log and the database are closed');
    } catch (error) {
      // The process that takes over finds out whether the data directory is free.
      this.parts.logger.error('leave for another process', { reason: reasonOf(error) });
    }
  }

  private async takeBack(talk: Conversation, reason: string): Promise<void> {
    // Who still takes over finds the lock free when all has stopped.
    if (this.ending !== undefined) return this.ending;
    talk.tell({ type: 'failed', reason });
    talk.end();
    this.ticket = '';
    const hasLeft = this.leaving !== undefined;
    if (hasLeft) this.parts.answerMeanwhile();
    else await this.parts.readAgain();
    const end = this.successor && (await endWithin(this.successor, FIRST_MS));
    this.lastFailure = end === undefined ? reason : `${reason} (${end})`;
    this.parts.logger.error('an upgrade was taken back', { reason: this.lastFailure });
    if (hasLeft && !this.isRescuing) void this.rescue();
  }

  /** Starts processes of this release until one has taken over the sockets; this one answers meanwhile. */
  private async rescue(): Promise<void> {
    const { logger, ownRelease = OWN_RELEASE } = this.parts;
    this.isRescuing = true;
    while (!this.isOver && this.ending === undefined) {
      logger.error('start this release again: its successor died');
      try {
        this.successor = this.launch(ownRelease);
        await successorEnd(this.successor);
      } catch (error) {
        // Its folder may be gone, or the machine out of processes: this one answers until that is over.
        logger.error('start this release again: it cannot be started', { reason: reasonOf(error) });
      }
      await sleep(RESCUE_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Passes the descriptors to the process that was told the ticket. */
  private give(socket: Socket, ticket: string): void {
    const { calls } = this.parts;
    if (calls === null || this.ticket === '' || ticket !== this.ticket)
      throw new ConversationError('no sockets are promised to this process');
    for (let at = 0; at < this.descriptors.length; at += MAX_DESCRIPTORS)
      sendDescriptors(calls, descriptorOf(socket), {
        bytes: Uint8Array.of(0),
        descriptors: this.descriptors.slice(at, at + MAX_DESCRIPTORS),
      });
  }

  private step(text: string): void {
    this.parts.logger.info(`upgrade: ${text}`);
    this.watcher?.tell({ type: 'step', text });
  }
}
