/** Nodes whose connection string names a PostgreSQL and its standby, each node with a folder of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { STARTED_ONCE } from '../parts/made-cluster.ts';
import { makeTempDir } from './data-dir.ts';
import type { TempDir } from './data-dir.ts';
import { startReplicatedDatabase } from './replicated-database.ts';
import type { ReplicatedDatabase } from './replicated-database.ts';
import { Weir } from './weir-process.ts';
import type { WeirOptions } from './weir-process.ts';

/** Lasts until it is closed, and its nodes with it. */
export class NodesWithStandby implements AsyncDisposable {
  readonly database: ReplicatedDatabase;
  private readonly folder: TempDir;
  private readonly nodes: Weir[] = [];

  private constructor(folder: TempDir, database: ReplicatedDatabase) {
    this.folder = folder;
    this.database = database;
  }

  /** Starts the pair, in whose database Weir has been before. */
  static async open(options: { readonly isSynchronous?: boolean } = {}): Promise<NodesWithStandby> {
    const folder = makeTempDir();
    const content = { ...options, content: STARTED_ONCE };
    return new NodesWithStandby(folder, await startReplicatedDatabase(join(folder.path, 'servers'), content));
  }

  /** Starts a node. */
  async start(nodeName: string, more: Partial<WeirOptions> = {}): Promise<Weir> {
    const path = join(this.folder.path, nodeName);
    mkdirSync(path, { recursive: true });
    const node = await Weir.start({
      nodeName,
      room: { path, dataDir: join(path, 'data'), remove: () => undefined },
      env: { WEIR_DATABASE_URL: this.database.url },
      ...more,
    });
    this.nodes.push(node);
    return node;
  }

  /** Ends the nodes, then the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.database[Symbol.asyncDispose]();
    this.folder.remove();
  }
}
