/** Starts nodes of a cluster, each with its own folder, and kills one under load. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadJob, LoadResult } from '../bench/load/load.ts';
import { until } from '../support/parts/until.ts';
import type { TempDir } from '../support/weir/data-dir.ts';
import { Weir } from '../support/weir/weir-process.ts';

/** Part of the load's time after which the node is killed. */
const KILL_AT = 0.9;
const POLL_MS = 50;

/** The nodes of a run, by name. */
export class Nodes {
  private readonly tempDir: TempDir;
  private readonly url: string;
  private readonly upstream: string;

  constructor(tempDir: TempDir, url: string, upstream: string) {
    this.tempDir = tempDir;
    this.url = url;
    this.upstream = upstream;
  }

  /** Starts a node. If the node joins running nodes, resolves once their list is also active at this node. */
  async start(nodeName: string, { isJoining = false, altCompat = false } = {}): Promise<Weir> {
    const path = join(this.tempDir.path, nodeName);
    mkdirSync(path, { recursive: true });
    const weir = await Weir.start({
      tempDir: { path, dataDir: join(path, 'data'), remove: () => undefined },
      nodeName,
      altCompat,
      upstreams: [this.upstream],
      env: { WEIR_DATABASE_URL: this.url },
    });
    if (isJoining) {
      const api = await weir.api();
      const path = '/block-filter/stats';
      await until(
        `the list to be active on node ${nodeName}`,
        () => api.expect<{ blocked_domains: number }>(200, 'GET', path),
        ({ blocked_domains: blocked }) => blocked > 0,
        { pauseMs: POLL_MS },
      );
    }
    return weir;
  }

  /** Sends queries to a node for some seconds, and kills it before the load ends. */
  async askUntilKilled(
    nodeName: string,
    ask: (weir: Weir, job: Partial<LoadJob>) => Promise<LoadResult>,
    secs: number,
  ): Promise<LoadResult> {
    await using doomed = await this.start(nodeName, { isJoining: true });
    const asked = ask(doomed, { secs: Math.ceil(secs) });
    await delay(secs * 1000 * KILL_AT);
    process.stdout.write(`node ${nodeName} is killed under load\n`);
    await doomed.end('SIGKILL');
    return await asked;
  }
}
