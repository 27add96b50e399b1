/** Several nodes that share a database, each with its own folder, and an upstream that resolves every name. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startEchoingUpstream } from '../dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../dns/scripted-upstream.ts';
import { makeTempDir, prepareDataDir } from './data-dir.ts';
import type { TempDir } from './data-dir.ts';
import { startSharedDatabase } from './shared-database.ts';
import type { SharedDatabase } from './shared-database.ts';
import { Weir } from './weir-process.ts';
import type { WeirOptions } from './weir-process.ts';

/** The cluster. `close()` also stops its nodes. */
export class NodeCluster {
  readonly database: SharedDatabase;
  private readonly folder: TempDir;
  private readonly upstream: ScriptedUpstream;
  /** Stops the parts of the cluster. */
  private readonly stack: AsyncDisposableStack;
  private readonly nodes: Weir[] = [];

  private constructor(
    folder: TempDir,
    database: SharedDatabase,
    upstream: ScriptedUpstream,
    stack: AsyncDisposableStack,
  ) {
    this.folder = folder;
    this.database = database;
    this.upstream = upstream;
    this.stack = stack;
  }

  /** Starts the database in the state after a first start of Weir; stops everything if this fails. */
  static async open(): Promise<NodeCluster> {
    await using stack = new AsyncDisposableStack();
    const folder = makeTempDir();
    stack.defer(() => folder.remove());
    const database = stack.use(await startSharedDatabase(folder.dataDir));
    await prepareDataDir(join(folder.path, 'prepared'), database.url);
    const upstream = stack.use(await startEchoingUpstream());
    return new NodeCluster(folder, database, upstream, stack.move());
  }

  /** Options to start a node of this name, or to start it again on the same folder. */
  optionsOf(nodeName: string, url = this.database.url): WeirOptions {
    const path = join(this.folder.path, nodeName);
    mkdirSync(path, { recursive: true });
    return {
      nodeName,
      tempDir: { path, dataDir: join(path, 'data'), remove: () => undefined },
      upstreams: [`127.0.0.1:${String(this.upstream.port)}`],
      env: { WEIR_DATABASE_URL: url },
    };
  }

  /** Starts a node. */
  async start(nodeName: string, more: Partial<WeirOptions> = {}): Promise<Weir> {
    const node = await Weir.start({ ...this.optionsOf(nodeName), ...more });
    this.nodes.push(node);
    return node;
  }

  /** Stops all nodes, and removes everything. */
  async close(): Promise<void> {
    await using _parts = this.stack;
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
