/**
 * The claim of this process to its node name. The rows of two machines with the same name would be mixed, so only the
 * first machine holds the name, as long as its heartbeat continues. The second one reports the conflict, answers DNS
 * queries, and spools its log until the name is free.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/log.ts';
import { PacedWork } from '../concurrency/paced-work.ts';
import type { Database } from '../db/database.ts';
import { DatabaseUnavailable } from '../db/database-errors.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { type Beat, beatNode, type NodeFigures, type TroubledNode } from './node-figures.ts';
import { claimNode, noteKilled, releaseNode } from './node-store.ts';
import type { NodeHolder, NodeIdentity } from './node-store.ts';

/** Dependencies of a claim. */
export interface NodeClaimParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly version: string;
  /** See `nodeUuid`. */
  readonly uuid: string;
  /** Called whenever this process has claimed or lost the name. */
  readonly onHeld?: (isHeld: boolean) => void;
}

/** Milliseconds between two regular heartbeats, and minimum between two heartbeats that report changes. */
const BEAT_MS = 2000;
const NEWS_MS = 50;

/** Claims the node name and renews the claim. */
export class NodeClaim {
  private readonly parts: NodeClaimParts;
  private readonly identity: NodeIdentity;
  private held = false;
  private readonly onHeld: (isHeld: boolean) => void;
  private wasHeld = false;
  private lastTrouble: string | null = null;
  private figures: (() => NodeFigures) | undefined;
  private inTrouble: readonly TroubledNode[] = [];
  private versions: Beat['otherVersions'] = [];
  /** Milliseconds by which this machine's clock is ahead of the database's; null = not known. */
  private clockOffsetMs: number | null = null;
  private readonly news = new PacedWork(() => this.beat(), NEWS_MS);
  private timer: NodeJS.Timeout | undefined;
  private stopListening = (): void => undefined;
  private lastBeat: Promise<void> = Promise.resolve();

  constructor(parts: NodeClaimParts) {
    const { nodeName: name, version, uuid } = parts;
    this.parts = parts;
    this.onHeld = parts.onHeld ?? (() => undefined);
    this.identity = { name, version, uuid, run: randomUUID() };
  }

  /** Claims the name as soon as the database is up, and then renews the claim. */
  start(): void {
    this.stopListening = this.parts.database.onStatus(() => void this.beat());
    this.timer = setInterval(() => void this.beat(), BEAT_MS);
    this.timer.unref();
    void this.beat();
  }

  /** From now on, each heartbeat includes these figures of the node. */
  reportFigures(figures: () => NodeFigures): void {
    this.figures = figures;
    this.requestBeat();
  }

  /** Reports a change before the next regular heartbeat. */
  requestBeat(): void {
    if (this.figures !== undefined) this.news.request();
  }

  /** Other nodes whose heartbeat is missing or whose policy is older, as of this node's last heartbeat. */
  othersInTrouble(): readonly TroubledNode[] {
    return this.inTrouble;
  }

  /** Running nodes with another version of Weir, as of this node's last heartbeat. */
  otherVersions(): Beat['otherVersions'] {
    return this.versions;
  }

  /** Milliseconds by which this machine's clock is ahead of the database's; null = not known. */
  aheadMs(): number | null {
    return this.clockOffsetMs;
  }

  /** UUID of this process, which is also in its rows of the query log. */
  get run(): string {
    return this.identity.run;
  }

  /** Whether this process holds the name. */
  isHeld(): boolean {
    return this.held;
  }

  /** Reason why this process does not hold the name; null = no conflict. */
  trouble(): string | null {
    return this.lastTrouble;
  }

  /** Sends a heartbeat, or tries to claim; called by the timer and by tests. */
  beat(): Promise<void> {
    this.lastBeat = this.lastBeat.then(() => this.claim());
    return this.lastBeat;
  }

  /** Releases the name. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopListening();
    this.figures = undefined;
    await this.news.settle();
    await this.lastBeat;
    if (this.held) await releaseNode(this.parts.database, this.identity);
    this.hold(false);
  }

  private async claim(): Promise<void> {
    const { database, logger, nodeName: name } = this.parts;
    try {
      if (this.held && (await this.sendBeat())) return;
      if (!this.wasHeld) await noteKilled(database, this.identity);
      const holder = await claimNode(database, this.identity, !this.wasHeld);
      if (holder !== null) {
        this.refuse(holder);
        return;
      }
      if (this.lastTrouble !== null) logger.info('this node has claimed its name again', { name });
      this.hold(true);
      this.wasHeld = true;
      this.lastTrouble = null;
    } catch (error) {
      // While the database is down, nothing is known about other nodes.
      this.hold(false);
      this.inTrouble = [];
      this.versions = [];
      if (error instanceof DatabaseUnavailable) return;
      logger.warn('could not claim the node name; retrying later', { name, reason: reasonOf(error) });
    }
  }

  /** Sends a heartbeat; false if the process does not hold its name, or if there are no figures yet. */
  private async sendBeat(): Promise<boolean> {
    if (this.figures === undefined) return false;
    const { database, clock } = this.parts;
    const askedMs = clock.nowMs();
    const beat = await beatNode(database, this.identity, this.figures(), this.clockOffsetMs);
    if (beat === null) return false;
    this.clockOffsetMs = Math.round((askedMs + clock.nowMs()) / 2 - beat.databaseMs);
    this.inTrouble = beat.inTrouble;
    this.versions = beat.otherVersions;
    return true;
  }

  private hold(isHeld: boolean): void {
    this.held = isHeld;
    this.onHeld(isHeld);
  }

  private refuse(holder: NodeHolder): void {
    this.hold(false);
    const before = this.lastTrouble;
    this.lastTrouble = this.reasonOf(holder);
    if (this.lastTrouble === before) return;
    const lastSeen = holder.lastSeen.toISOString();
    this.parts.logger.error(this.lastTrouble, { holder: holder.uuid, last_seen: lastSeen });
  }

  private reasonOf(holder: NodeHolder): string {
    const { name, uuid } = this.identity;
    const until = 'its query log is kept on disk until then';
    if (holder.name !== name)
      return `the name ${name} of this node has the same id as ${holder.name}: choose another server.node_name; ${until}`;
    if (holder.uuid === uuid)
      return `another process runs as node ${name} on a copy of this data directory: remove node-uuid there and choose another server.node_name; ${until}`;
    return `another machine runs as node ${name}: choose another server.node_name for one of them; ${until}`;
  }
}
