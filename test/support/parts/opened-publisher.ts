/** A publisher with a temporary folder. The test controls how threads accept snapshots, and the live state. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FindLivePolicy, NOTHING_LIVE } from '../../../control-plane/policy/change/runtime-state.ts';
import { emptySnapshot } from '../../../control-plane/policy/snapshot/publish/starting-state.ts';
import { Generations } from '../../../control-plane/policy/snapshot/publish/generations.ts';
import {
  type Broadcast,
  SnapshotPublisher,
} from '../../../control-plane/policy/snapshot/publish/publisher.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import { MemoryLogger } from './memory-logger.ts';
import { SMALL_BLOCKING } from './small-policy.ts';

/** Starts from an empty snapshot without live state. */
export class OpenedPublisher {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'weir-publisher-'));
  readonly logger = new MemoryLogger();
  readonly generations = new Generations(this.dataDir, this.logger);
  /** Snapshots that threads received. */
  readonly sent: SnapshotBuffers[] = [];
  live: FindLivePolicy = () => NOTHING_LIVE;
  /** Behaviour of healthy threads. */
  readonly take: Broadcast = async (snapshot) => {
    this.sent.push(snapshot);
    return 0;
  };
  broadcast: Broadcast = this.take;
  readonly publisher = new SnapshotPublisher({
    initial: emptySnapshot(SMALL_BLOCKING),
    broadcast: (snapshot) => this.broadcast(snapshot),
    live: (rows) => this.live(rows),
    generations: this.generations,
    logger: this.logger,
  });

  static async open(): Promise<OpenedPublisher> {
    const opened = new OpenedPublisher();
    await opened.generations.load();
    return opened;
  }

  async close(): Promise<void> {
    await this.publisher.settled();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
