/**
 * The running side of a handover: another process of the same user takes over the sockets, then the data directory, and
 * this process ends when the other one has started completely. Each step can be undone until the lock of the data
 * directory is released. If the successor fails after that, this process starts another one of the same release.
 * `start-handover.ts` defines the effect of the steps on the parts of a node.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { listenPrivately } from '../../host/files/private-socket.ts';
import { HandoverChannel, HandoverError, numberOf, textField } from './handover-channel.ts';
import type { HandoverMessage } from './handover-channel.ts';
import { Shutdown } from './shutdown.ts';
import type { DepartingNode } from './shutdown.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { MAX_DESCRIPTORS, peerUser, sendDescriptors } from './descriptor-messages.ts';
import { descriptorOf } from '../../host/descriptor-of.ts';
import { HANDOVER_FORMAT, HANDOVER_SOCKET, SILENCE_MS } from './handover-format.ts';
import { checkRelease, OWN_RELEASE, Successor } from './successor.ts';

/** Operations and data of the running node that a handover needs. */
export interface HandoverParts extends DepartingNode {
  readonly logger: Logger;
  readonly version: string;
  readonly dnsPort: number;
  /** Niceness of the answer threads. */
  readonly niceness: number;
  /** The configuration file of this process; null = none. */
  readonly configFile: string | null;
  /** Null if descriptors cannot be passed. */
  readonly calls: DescriptorCalls | null;
  /** Milliseconds without a message after which the other process counts as hung; by default 20 s. */
  readonly silenceMs?: number;
  /** The directory of this process's release; by default derived from the path of this file. */
  readonly ownRelease?: string;
  /** Called to end this process, because the process `pid` has replaced it. */
  gone(pid: number): void;
}

/** A process that takes over. */
interface Attempt {
  readonly talk: HandoverChannel;
  /** Descriptors that the process may fetch on another connection with the ticket. */
  promised: { readonly ticket: string; readonly descriptors: readonly number[] } | undefined;
  /** Resolves when the attempt has succeeded or was undone. */
  over: Promise<void>;
}

/**
 * Milliseconds to wait for the first message of a connection, and for the end of a process that has failed or is being
 * stopped.
 */
const FIRST_MS = 2000;
const STOP_MS = 5000;
/** Pause before a process is started again for a data directory that was released. */
const RESCUE_PAUSE_MS = 1000;

/** Hands over to any process that requests it at the socket in the data directory. */
export class UpgradeSource {
  private readonly parts: HandoverParts;
  private readonly path: string;
  private server: Server;
  /** Inode of the file of the socket. A successor replaces this file. */
  private socketInode: number | undefined;
  private readonly departure: Shutdown;
  private attempt: Attempt | undefined;
  /**
   * The process that this one has started as its successor, and the connection of the command that requested the
   * upgrade.
   */
  private successor: Successor | undefined;
  private watcher: HandoverChannel | undefined;
  /** Reason why the last started process failed, if it reported one. */
  private startFailure: string | undefined;
  /** Reason why the last attempt was undone. */
  private lastFailure: string | undefined;
  private isRescuing = false;
  /** Whether another process has started in place of this one. */
  private isOver = false;
  /** Resolves when Weir has stopped; undefined = Weir is not stopping. */
  private ending: Promise<void> | undefined;

  private constructor(parts: HandoverParts, path: string) {
    this.parts = parts;
    this.path = path;
    this.departure = new Shutdown(parts, parts.logger, (text) => this.step(text));
    this.server = createServer();
  }

  /** Starts listening. */
  static async start(parts: HandoverParts, dataDir: string): Promise<UpgradeSource> {
    const handing = new UpgradeSource(parts, join(dataDir, HANDOVER_SOCKET));
    await handing.listen();
    return handing;
  }

  /** Stops listening; a node that has left keeps listening until its successor has started. */
  close(): void {
    if (!this.departure.hasBegun || this.isOver) this.server.close();
  }

  /**
   * Called when Weir is stopping; `stopped` resolves when it has stopped. A process that was started as the successor
   * is also stopped: as it can then take the lock, it stores its data and ends. A successor that was started by another
   * program keeps running.
   */
  async end(stopped: Promise<void>): Promise<void> {
    this.ending = stopped;
    const ended = this.successor?.stop(STOP_MS);
    if (ended === undefined) return;
    await stopped;
    this.attempt?.talk.end();
    await ended;
  }

  /** Kills the process that was started as the successor. */
  endAtOnce(): void {
    this.successor?.kill();
  }

  private async listen(): Promise<void> {
    const { parts, path } = this;
    const server = createServer((socket) => void this.converse(socket));
    this.server = server;
    try {
      await listenPrivately(server, path);
      this.socketInode = inodeOf(path);
    } catch (error) {
      parts.logger.warn('could not listen for upgrades; the next upgrade needs a restart', {
        path,
        reason: reasonOf(error),
      });
    }
    server.on('error', (error) =>
      parts.logger.error('could not listen for upgrades; the next upgrade needs a restart', {
        reason: error.message,
      }),
    );
  }

  private async converse(socket: Socket): Promise<void> {
    const talk = new HandoverChannel(socket);
    try {
      this.checkUser(socket);
      const first = await talk.next(FIRST_MS);
      if (first.type === 'upgrade') await this.upgrade(talk, textField(first, 'release'));
      else if (first.type === 'take-over') await this.runHandover(talk, first);
      else if (first.type === 'descriptors') this.give(socket, textField(first, 'ticket'));
      else if (first.type === 'start-failed') this.startFailure = textField(first, 'reason');
      else throw new HandoverError(`unknown message "${first.type.slice(0, 40)}"`);
    } catch (error) {
      const reason = reasonOf(error);
      this.parts.logger.warn('refused a connection to the handover socket', { reason });
      talk.send({ type: 'failed', reason });
    } finally {
      talk.end();
    }
  }

  /**
   * Rejects connections of other users. The permissions should be sufficient, but an old kernel or a container may
   * ignore those of the directory of the socket.
   */
  private checkUser(socket: Socket): void {
    if (this.parts.calls === null) return;
    const user = peerUser(this.parts.calls, descriptorOf(socket));
    if (user !== 0 && user !== process.getuid?.())
      throw new HandoverError(`user ${String(user)} is not the user that runs Weir`);
  }

  /** Starts a process of the release and reports its progress to the command. */
  private async upgrade(talk: HandoverChannel, release: string): Promise<void> {
    this.refuseConcurrent(this.attempt ?? this.successor);
    if (process.pid === 1)
      throw new HandoverError(
        'this process is the first of its container; for an upgrade, start the new container with "start ' +
          '--take-over"',
      );
    const { configFile, silenceMs = SILENCE_MS } = this.parts;
    await checkRelease(release, configFile, silenceMs);
    // Another upgrade may have been requested during the check.
    this.refuseConcurrent(this.attempt ?? this.successor);
    const successor = this.launch(release);
    this.watcher = talk;
    try {
      this.step(`process ${String(successor.pid ?? '')} of ${release} starts`);
      const reason = await successor.ended;
      // If a handover is being undone, its reason is better.
      await this.attempt?.over;
      if (this.ending === undefined)
        talk.send({ type: 'failed', reason: this.lastFailure ?? this.startFailure ?? reason });
    } finally {
      this.watcher = undefined;
      // Another successor may have been started to recover from the failure of this one.
      if (this.successor === successor) this.successor = undefined;
      this.lastFailure = undefined;
    }
  }

  /** Starts a process that will take over. */
  private launch(release: string): Successor {
    if (this.ending !== undefined) throw new HandoverError('the running server is stopping');
    const { configFile, silenceMs = SILENCE_MS } = this.parts;
    this.startFailure = undefined;
    return (this.successor = new Successor(release, configFile, silenceMs));
  }

  private refuseConcurrent(other: Attempt | Successor | undefined): void {
    if (other !== undefined) throw new HandoverError('another upgrade is in progress');
  }

  private async runHandover(talk: HandoverChannel, hello: HandoverMessage): Promise<void> {
    this.refuseConcurrent(this.attempt);
    const format = textField(hello, 'format');
    if (format !== HANDOVER_FORMAT)
      throw new HandoverError(
        `the running release uses "${HANDOVER_FORMAT}", this one "${format.slice(0, 40)}"; restart Weir ` +
          'instead',
      );
    const [version, pid] = [textField(hello, 'version'), numberOf(hello, 'pid')];
    this.successor?.hasCome();
    const attempt: Attempt = { talk, promised: undefined, over: Promise.resolve() };
    this.attempt = attempt;
    attempt.over = this.lead(attempt, version, pid)
      .catch((error: unknown) => this.resume(attempt, reasonOf(error)))
      .finally(() => (this.attempt = undefined));
    await attempt.over;
  }

  /** Runs all steps of a handover, in order. */
  private async lead(attempt: Attempt, version: string, pid: number): Promise<void> {
    const { parts, departure } = this;
    const { talk } = attempt;
    const { silenceMs = SILENCE_MS } = parts;
    parts.logger.info('handing over to a new process', { pid, version });
    talk.send({ type: 'welcome', version: parts.version, dnsPort: parts.dnsPort, niceness: parts.niceness });
    await talk.expect('loaded', silenceMs);
    this.step(`release ${version} is loaded`);
    const { descriptors, nodeState } = await departure.prepare();
    const ticket = randomBytes(16).toString('hex');
    attempt.promised = { ticket, descriptors };
    const hasLeft = departure.hasBegun;
    talk.send({ type: 'sockets', ticket, count: descriptors.length, nodeState, hasLeft });
    await talk.expect('reading', silenceMs);
    this.step('the new process answers queries, together with this one');
    await Promise.race([departure.stopReading(), talk.ended()]);
    // Each wait for the new process has a time limit, because a hung process cannot report a failure.
    talk.send({ type: 'stopped' });
    await talk.expect('go', silenceMs);
    await Promise.race([departure.leave(), talk.ended()]);
    talk.send({ type: 'free' });
    await talk.expect('holding', silenceMs);
    this.step('the new process has locked the data directory');
    // The file of the socket is kept, because it belongs to the other process.
    this.isOver = true;
    // If Weir is already stopping, it must not wait for this process: the sender of the signal waits for its end.
    if (this.ending !== undefined) return;
    this.watcher?.send({ type: 'done', pid, version });
    parts.gone(pid);
  }

  private async resume(attempt: Attempt, reason: string): Promise<void> {
    // If Weir is stopping, nothing is undone: a process that still takes over finds the lock free when all parts have
    // stopped.
    if (this.ending !== undefined) return this.ending;
    attempt.promised = undefined;
    await this.departure.resume();
    // Only sent now, because the other process, if it can, must answer queries until this one does.
    attempt.talk.send({ type: 'failed', reason });
    attempt.talk.end();
    const end = await this.successor?.endWithin(STOP_MS);
    this.lastFailure = end === undefined ? reason : `${reason} (${end})`;
    this.parts.logger.error('an upgrade was rolled back', { reason: this.lastFailure });
    if (this.departure.hasBegun && !this.isRescuing) void this.rescue();
  }

  /**
   * Starts processes of this release until one has taken over the sockets; until then, this process answers queries.
   */
  private async rescue(): Promise<void> {
    const { logger, ownRelease = OWN_RELEASE } = this.parts;
    this.isRescuing = true;
    let reason = 'the new process died';
    while (!this.isOver && this.ending === undefined) {
      logger.error('could not restart this release', { reason });
      try {
        await this.listenAgain();
        reason = await this.launch(ownRelease).ended;
      } catch (error) {
        // The directory of the release may be missing: this process then answers queries until it exists again.
        reason = reasonOf(error);
      }
      await sleep(RESCUE_PAUSE_MS, undefined, { ref: false });
    }
  }

  /** Listens again if a process that has since died had replaced the file of the socket. */
  private async listenAgain(): Promise<void> {
    if (inodeOf(this.path) === this.socketInode) return;
    this.server.close();
    await this.listen();
  }

  /** Passes the descriptors to the process with the ticket. */
  private give(socket: Socket, ticket: string): void {
    const { calls } = this.parts;
    const promised = this.attempt?.promised;
    if (calls === null || promised?.ticket !== ticket)
      throw new HandoverError('no sockets are reserved for this process');
    for (let at = 0; at < promised.descriptors.length; at += MAX_DESCRIPTORS)
      sendDescriptors(calls, descriptorOf(socket), {
        bytes: Uint8Array.of(0),
        descriptors: promised.descriptors.slice(at, at + MAX_DESCRIPTORS),
      });
  }

  private step(text: string): void {
    this.parts.logger.info(`upgrade: ${text}`);
    this.watcher?.send({ type: 'step', text });
  }
}

/** Inode of a file; undefined if the file does not exist. */
function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}
