/** Several nodes that share a database, each with a folder of its own, and an upstream that knows every name. */
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

/** Lasts until it is closed, and its nodes with it. */
export class NodeCluster {
  readonly database: SharedDatabase;
  private readonly folder: TempDir;
  private readonly upstream: ScriptedUpstream;
  private readonly nodes: Weir[] = [];

  private constructor(folder: TempDir, database: SharedDatabase, upstream: ScriptedUpstream) {
    this.folder = folder;
    this.database = database;
    this.upstream = upstream;
  }

  /** Starts the database, whose first start is behind it. */
  static async open(): Promise<NodeCluster> {
    const folder = makeTempDir();
    const database = await startSharedDatabase(folder.dataDir);
    await prepareDataDir(join(folder.path, 'prepared'), database.url);
    return new NodeCluster(folder, database, await startEchoingUpstream());
  }

  /** How a node of this name is started; also again, on the same folder. */
  optionsOf(nodeName: string, url = this.database.url): WeirOptions {
    const path = join(this.folder.path, nodeName);
    mkdirSync(path, { recursive: true });
    return {
      nodeName,
      room: { path, dataDir: join(path, 'data'), remove: () => undefined },
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
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.upstream.close();
    await this.database[Symbol.asyncDispose]();
    this.folder.remove();
  }
}
