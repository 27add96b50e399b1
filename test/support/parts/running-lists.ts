/**
 * The lists of a node without threads: a real database, a real list server and all code that fetches, compiles and
 * publishes lists. Broadcasts take effect immediately. To test a restart, a suite starts a second node on the same
 * folder.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from './as-owner.ts';
import { ClientDirectory } from '../../../control-plane/clients/devices/client-directory.ts';
import { JobLeases } from '../../../control-plane/storage/cluster/leases.ts';
import { CompilePool } from '../../../control-plane/policy/compile/table/compile-pool.ts';
import { CompiledLists } from '../../../control-plane/lists/compiled/compiled-lists.ts';
import { NamesFolder } from '../../../control-plane/lists/compiled/names-folder.ts';
import { ListCache } from '../../../control-plane/lists/sources/list-cache.ts';
import { ListSources } from '../../../control-plane/lists/sources/list-sources.ts';
import { RefusedCopies } from '../../../control-plane/lists/sources/refused-copies.ts';
import { SharedCopies } from '../../../control-plane/lists/sources/shared-copies.ts';
import type { BlockingSettings } from '../../../control-plane/policy/change/blocking-settings.ts';
import { PolicyChanges } from '../../../control-plane/policy/change/change.ts';
import { NOTHING_LIVE } from '../../../control-plane/policy/change/runtime-state.ts';
import { PolicyMemory } from '../../../control-plane/policy/change/policy-memory.ts';
import { readPolicy } from '../../../control-plane/policy/change/policy-store.ts';
import { rollBack } from '../../../control-plane/transfer/revisions/rollback.ts';
import { Generations } from '../../../control-plane/policy/snapshot/publish/generations.ts';
import { ActivePolicy } from '../../../control-plane/policy/snapshot/publish/active-policy.ts';
import { SnapshotPublisher } from '../../../control-plane/policy/snapshot/publish/publisher.ts';
import { startingState } from '../../../control-plane/policy/snapshot/publish/starting-state.ts';
import type { NewSource } from '../../../control-plane/lists/sources/source-store.ts';
import type { SourceCreate, SourceUpdate } from '../../../shared/api/policy/sources-api.ts';
import { hashName, nameFromText } from '../../../shared/dns/name.ts';
import { PolicyTable } from '../../../shared/snapshot/policy-table.ts';
import { RuleTable } from '../../../shared/snapshot/rule-table.ts';
import { type ListAnswer, type ListServer, startListServer } from '../weir/list-server.ts';
import { MemoryLogger } from './memory-logger.ts';
import { makeTempDir, startTestDatabase, type TestDatabase } from './test-database.ts';

const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};

/** Author of the changes in tests. */
export const TESTER = { name: 'tester', address: null };

/** Operations on blocklists, in the form that most tests use. */
class BlockLists {
  private readonly all: ListSources;

  constructor(all: ListSources) {
    this.all = all;
  }

  list = () => this.all.list('block');
  read = (id: number) => this.all.read('block', id);
  create = (created: SourceCreate) => this.all.create('block', created, TESTER);
  update = (id: number, change: SourceUpdate) => this.all.update('block', id, change, TESTER);
  remove = (id: number) => this.all.remove('block', id, TESTER);
  refresh = (id: number) => this.all.refresh('block', id, TESTER);
  refreshAll = () => this.all.refreshAll('block', TESTER);
  approve = (id: number) => this.all.approve('block', id, TESTER);
  unusedLines = (id: number) => this.all.unusedLines('block', id);
  refreshDue = () => this.all.refreshDue();
  checkSoon = () => this.all.checkSoon();
  idle = () => this.all.idle();
  start = () => this.all.start();
}

/** A started node. */
export interface ListNode {
  readonly life: BlockLists;
  readonly all: ListSources;
  readonly cache: ListCache;
  readonly copies: SharedCopies;
  readonly lists: CompiledLists;
  readonly policy: ActivePolicy;
  readonly pool: CompilePool;
  readonly publisher: SnapshotPublisher;
  readonly logger: MemoryLogger;
  readonly clock: { nowMs(): number; monotonicMs(): number; ms: number };
  stop(): Promise<void>;
}

/** Settings of one node. */
interface NodeHome {
  readonly dataDir: string;
  /** UUID of the node with this folder. */
  readonly nodeUuid: string;
  readonly listDirs: readonly string[];
  /** `node-a` by default. */
  readonly nodeName?: string;
}

/** Environment of the suites about list sources. */
export class RunningLists {
  /** Most queried names of this network. */
  mostAsked: string[] = [];
  /** Distinct names of the last 24 hours. */
  namesOfDay: string[] = [];
  /** Folders in which `file:` lists are allowed. */
  listDirs: string[] = [];
  private readonly db: TestDatabase;
  private readonly server: ListServer;
  dataDir = '';
  /** UUID of the node with this folder. */
  readonly nodeUuid: string = randomUUID();
  private otherDirs: string[] = [];
  private nodes: ListNode[] = [];
  /** Number of earlier requests, which `asked()` leaves out. */
  private forgotten = 0;

  private constructor(db: TestDatabase, server: ListServer) {
    this.db = db;
    this.server = server;
  }

  /** Opens the suite in `beforeAll`. */
  static async open(): Promise<RunningLists> {
    return new RunningLists(await startTestDatabase(), await startListServer());
  }

  get database(): TestDatabase['database'] {
    return this.db.database;
  }

  get lock(): TestDatabase['lock'] {
    return this.db.lock;
  }

  /** Resolves when no node is fetching or compiling. */
  async idle(): Promise<void> {
    for (const { all } of this.nodes) await all.idle();
  }

  /** For `beforeEach`: empties the database and the folder, and removes the lists from the server. */
  async begin(): Promise<void> {
    await asOwner(this.database, 'TRUNCATE revisions, managed_domains, leases, blobs');
    await this.database.query('DELETE FROM list_sources');
    await this.database.query('DELETE FROM groups WHERE id <> 1');
    this.dataDir = makeTempDir();
    this.server.reset();
    this.forgotten = 0;
    this.mostAsked = [];
    this.namesOfDay = [];
    this.listDirs = [];
  }

  /** For `afterEach`: ends a test. */
  async end(): Promise<void> {
    for (const node of this.nodes.splice(0)) await node.stop();
    for (const dir of [this.dataDir, ...this.otherDirs.splice(0)])
      rmSync(dir, { recursive: true, force: true });
  }

  /** Closes the suite in `afterAll`. */
  async close(): Promise<void> {
    await this.server.close();
    await this.db.stop();
  }

  /** Serves a list; returns its URL. */
  serve(path: string, text: string, etag?: string): string {
    return this.serveBy(path, (request, response) => {
      if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304).end();
      else response.writeHead(200, etag === undefined ? {} : { ETag: etag }).end(text);
    });
  }

  /** Sets the response for a path; returns its URL. */
  serveBy(path: string, answer: ListAnswer): string {
    this.server.serve(path, answer);
    return this.urlOf(path);
  }

  /** Responds with 404 to every request. */
  serveNothing(): void {
    this.server.reset();
    this.forgotten = 0;
  }

  urlOf(path: string): string {
    return this.server.url(path);
  }

  /** Paths requested from the server since the last `clearAsked()`. */
  asked(): string[] {
    return this.server.requests.slice(this.forgotten).map(({ url }) => url ?? '');
  }

  clearAsked(): void {
    this.forgotten = this.server.requests.length;
  }

  /** Paths of all copies on disk. */
  copies(): string[] {
    const folder = join(this.dataDir, 'list-cache');
    return readdirSync(folder).map((file) => join(folder, file));
  }

  /** Deletes the snapshots, as if none had been written. */
  dropSnapshots(): void {
    rmSync(join(this.dataDir, 'snapshots'), { recursive: true });
  }

  /** Rolls back to a revision, including its lists. */
  async goBack({ all, policy }: ListNode, id: number, expectedHead?: number): Promise<void> {
    const { database } = this;
    const changes = new PolicyChanges(database, policy);
    const parts = {
      database,
      policy: changes,
      clients: new ClientDirectory(),
      activateRestored: () => all.activateRestored(),
    };
    await rollBack(parts, id, TESTER, expectedHead);
  }

  /** Starts another node with its own empty folder. */
  startOther({ pool = new CompilePool(), listDirs = this.listDirs } = {}): Promise<ListNode> {
    const dataDir = makeTempDir();
    this.otherDirs.push(dataDir);
    return this.startNode(pool, this.database, {
      ...{ dataDir, nodeUuid: randomUUID(), listDirs, nodeName: 'node-b' },
    });
  }

  async startNode(
    pool = new CompilePool(),
    database = this.database,
    home: NodeHome = this,
  ): Promise<ListNode> {
    const { dataDir, nodeUuid } = home;
    const logger = new MemoryLogger();
    const generations = new Generations(dataDir, logger);
    const publisher = new SnapshotPublisher({
      initial: await startingState(generations, BLOCKING, () => NOTHING_LIVE),
      live: () => NOTHING_LIVE,
      broadcast: async () => 0,
      generations,
      logger,
    });
    const memory = new PolicyMemory();
    const read = () => readPolicy(database, () => undefined, memory);
    const clock = { ms: Date.now(), nowMs: () => clock.ms, monotonicMs: () => performance.now() };
    const refused = new RefusedCopies(clock);
    const policy = new ActivePolicy({
      ...{ publisher, readPolicy: read, logger },
      blocking: () => BLOCKING,
      isRefused: (id, inputKey) => refused.reasonFor(id, inputKey) !== undefined,
    });
    const names = new NamesFolder(dataDir);
    const cache = new ListCache(dataDir);
    const changes = new PolicyChanges(database, policy);
    const copies = new SharedCopies({ database, changes, cache, logger });
    const all = new ListSources({
      database,
      cache,
      copies,
      refused,
      jobs: new JobLeases({ database, logger, node: nodeUuid }),
      nodeName: home.nodeName ?? 'node-a',
      pool,
      policy,
      changes,
      publisher,
      generations,
      names,
      mostAsked: { names: async () => this.mostAsked, ofLastDay: async () => this.namesOfDay },
      refreshHours: () => 24,
      listDirs: () => home.listDirs,
      bounds: { localDomain: () => '', ownPorts: () => new Set() },
      clock,
      logger,
    });
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await all.close();
      await pool.close();
      await publisher.settled();
    };
    const lists = new CompiledLists({ current: () => publisher.current(), names });
    const parts = { all, cache, copies, lists, policy, pool, publisher, logger, clock };
    const node = { life: new BlockLists(all), ...parts, stop };
    this.nodes.push(node);
    await all.start();
    return node;
  }
}

/** A blocklist in the form of a request that creates it. */
export function blocklist(url: string, change: Partial<NewSource> = {}): NewSource {
  return { name: 'ads', url, enabled: true, comment: '', group_ids: [], subdomains: false, ...change };
}

/** The attribute of a name in the active table; negative if the table does not have the name. */
export function attributeOf(node: ListNode, name: string): number {
  const table = new RuleTable(node.publisher.current().snapshot.rules);
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
  return table.find(hash.low, hash.high);
}

/** Kinds of rules that the active snapshot has for a name and a group. */
export function kindsOf(node: ListNode, name: string, groupId = 1): number {
  const meaning = new PolicyTable(node.publisher.current().snapshot.policy);
  const attribute = attributeOf(node, name);
  if (attribute < 0) return 0;
  const index = Array.from({ length: meaning.groupCount }, (_, at) => meaning.groupId(at)).indexOf(groupId);
  return meaning.kindsOf(meaning.groupClass(index), attribute);
}

/** Log lines of the node with this message. */
export function countOf({ logger }: ListNode, message: string): number {
  return logger.lines.filter((line) => line.message === message).length;
}
