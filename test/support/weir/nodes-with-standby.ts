/** Nodes whose connection string has a PostgreSQL primary and its standby, each node with its own folder. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { STARTED_ONCE } from '../parts/made-cluster.ts';
import { makeTempDir } from './data-dir.ts';
import type { TempDir } from './data-dir.ts';
import { startReplicatedDatabase } from './replicated-database.ts';
import type { ReplicatedDatabase } from './replicated-database.ts';
import { Weir } from './weir-process.ts';
import type { WeirOptions } from './weir-process.ts';

/** The nodes and both servers. Disposing of this object stops all of them. */
export class NodesWithStandby implements AsyncDisposable {
  readonly database: ReplicatedDatabase;
  private readonly folder: TempDir;
  /** Stops the parts. */
  private readonly stack: AsyncDisposableStack;
  private readonly nodes: Weir[] = [];

  private constructor(folder: TempDir, database: ReplicatedDatabase, stack: AsyncDisposableStack) {
    this.folder = folder;
    this.database = database;
    this.stack = stack;
  }

  /** Starts both servers, with a database in the state after a first start of Weir; stops everything if this fails. */
  static async open(options: { readonly isSynchronous?: boolean } = {}): Promise<NodesWithStandby> {
    await using stack = new AsyncDisposableStack();
    const folder = makeTempDir();
    stack.defer(() => folder.remove());
    const content = { ...options, content: STARTED_ONCE };
    const database = stack.use(await startReplicatedDatabase(join(folder.path, 'servers'), content));
    return new NodesWithStandby(folder, database, stack.move());
  }

  /** Starts a node. */
  async start(nodeName: string, more: Partial<WeirOptions> = {}): Promise<Weir> {
    const path = join(this.folder.path, nodeName);
    mkdirSync(path, { recursive: true });
    const node = await Weir.start({
      nodeName,
      tempDir: { path, dataDir: join(path, 'data'), remove: () => undefined },
      env: { WEIR_DATABASE_URL: this.database.url },
      ...more,
    });
    this.nodes.push(node);
    return node;
  }

  /** Stops the nodes, then the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await using _parts = this.stack;
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
