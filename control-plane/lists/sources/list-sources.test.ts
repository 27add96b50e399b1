import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { hashName, nameFromText } from '../../../shared/dns/name.ts';
import { PolicyTable } from '../../../shared/snapshot/policy-table.ts';
import { RuleTable } from '../../../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import type { SourceCreate, SourceUpdate } from '../../../shared/api/policy/sources-api.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { makeTempDir, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import type { BlockingSettings } from '../../policy/blocking-settings.ts';
import { CompilePool } from '../../compile/table/compile-pool.ts';
import { Generations } from '../../snapshot/publish/generations.ts';
import { PolicyInForce } from '../../snapshot/publish/policy-in-force.ts';
import { PolicyChanges } from '../../policy/change.ts';
import { NOTHING_LIVE } from '../../policy/live.ts';
import { readPolicyRows } from '../../policy/policy-store.ts';
import { SnapshotPublisher } from '../../snapshot/publish/publisher.ts';
import { filterStats } from '../../snapshot/publish/filter-stats.ts';
import { startingState } from '../../snapshot/publish/starting-state.ts';
import type { Revision } from '../../../shared/api/revisions-api.ts';
import { listRevisions } from '../../policy/revision-store.ts';
import { rollBack } from '../../revisions/rollback.ts';
import { CompiledLists } from '../compiled/compiled-lists.ts';
import { ListCache } from './list-cache.ts';
import { ListSources } from './list-sources.ts';
import { NamesFolder } from '../compiled/names-folder.ts';

const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};

/** The life of blocklists, as most tests want to speak to it. */
class BlockLists {
  private readonly all: ListSources;

  constructor(all: ListSources) {
    this.all = all;
  }

  list = () => this.all.list('block');
  read = (id: number) => this.all.read('block', id);
  create = (created: SourceCreate) => this.all.create('block', created, 'tester');
  update = (id: number, change: SourceUpdate) => this.all.update('block', id, change, 'tester');
  remove = (id: number) => this.all.remove('block', id, 'tester');
  refresh = (id: number) => this.all.refresh('block', id);
  refreshAll = () => this.all.refreshAll('block');
  approve = (id: number) => this.all.approve('block', id, 'tester');
  unusedLines = (id: number) => this.all.unusedLines('block', id);
  refreshDue = () => this.all.refreshDue();
  idle = () => this.all.idle();
  start = () => this.all.start();
  close = () => this.all.close();
}

/** A node without threads: what would be broadcast is kept. */
interface Node {
  readonly life: BlockLists;
  readonly all: ListSources;
  readonly lists: CompiledLists;
  readonly policy: PolicyInForce;
  readonly pool: CompilePool;
  readonly publisher: SnapshotPublisher;
  readonly snapshots: SnapshotBuffers[];
  readonly logger: MemoryLogger;
  readonly clock: { nowMs(): number; monotonicMs(): number; ms: number };
  stop(): Promise<void>;
}

let db: TestDatabase;
let server: Server;
let base: string;
let answers: Map<string, RequestListener>;
let asked: string[];
let dataDir: string;
let nodes: Node[];
let mostAsked: string[];

beforeAll(async () => {
  db = await startTestDatabase();
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = answers.get(request.url ?? '');
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await db.stop();
});
beforeEach(async () => {
  await db.database.query('TRUNCATE revisions, managed_domains');
  await db.database.query('DELETE FROM list_sources');
  await db.database.query('DELETE FROM groups WHERE id <> 1');
  dataDir = makeTempDir();
  answers = new Map();
  asked = [];
  nodes = [];
  mostAsked = [];
});
afterEach(async () => {
  for (const node of nodes) await node.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Goes back to a revision, lists included. */
async function goBack({ all, policy }: Node, id: number): Promise<void> {
  const { database } = db;
  const changes = new PolicyChanges(database, policy);
  await rollBack({ database, policy: changes, bringBack: () => all.bringBack() }, id, 'tester');
}

async function startNode(pool = new CompilePool()): Promise<Node> {
  const logger = new MemoryLogger();
  const generations = new Generations(dataDir, logger);
  const snapshots: SnapshotBuffers[] = [];
  const publisher = new SnapshotPublisher({
    initial: await startingState(generations, BLOCKING, () => NOTHING_LIVE),
    live: () => NOTHING_LIVE,
    broadcast: async (snapshot) => {
      snapshots.push(snapshot);
      return 0;
    },
    generations,
    logger,
  });
  const { database } = db;
  const readRows = () => readPolicyRows(database, () => undefined);
  const policy = new PolicyInForce({ publisher, readRows, blocking: () => BLOCKING, logger });
  const clock = {
    ms: Date.now(),
    nowMs: () => clock.ms,
    monotonicMs: () => performance.now(),
  };
  const cache = new ListCache(dataDir);
  const names = new NamesFolder(dataDir);
  const life = new ListSources({
    database,
    cache,
    pool,
    policy,
    changes: new PolicyChanges(database, policy),
    publisher,
    generations,
    names,
    mostAsked: { names: async () => mostAsked },
    refreshHours: () => 24,
    listDirs: () => [],
    bounds: { localDomain: () => '', ownPorts: () => new Set() },
    clock,
    logger,
  });
  let isStopped = false;
  const node: Node = {
    life: new BlockLists(life),
    all: life,
    lists: new CompiledLists({ current: () => publisher.current(), names }),
    policy,
    pool,
    publisher,
    snapshots,
    logger,
    clock,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await life.close();
      await pool.close();
      await publisher.settled();
    },
  };
  nodes.push(node);
  await life.start();
  return node;
}

function attributeOf(node: Node, name: string): number {
  const table = new RuleTable(node.publisher.current().snapshot.rules);
  const hash = { low: 0, high: 0 };
  hashName(nameFromText(name)!, 0, table.seedLow, table.seedHigh, hash);
  return table.find(hash.low, hash.high);
}

/** Kinds that the snapshot in force has for a name and a group. */
function kindsOf(node: Node, name: string, groupId = 1): number {
  const meaning = new PolicyTable(node.publisher.current().snapshot.policy);
  const attribute = attributeOf(node, name);
  if (attribute < 0) return 0;
  const index = Array.from({ length: meaning.groupCount }, (_, at) => meaning.groupId(at)).indexOf(groupId);
  return meaning.kindsOf(meaning.groupClass(index), attribute);
}

function serve(path: string, text: string, etag?: string): string {
  answers.set(path, (request, response) => {
    if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, etag === undefined ? {} : { ETag: etag }).end(text);
  });
  return base + path;
}

function source(url: string, change: Partial<SourceCreate> = {}): SourceCreate {
  return { name: 'ads', url, enabled: true, comment: '', group_ids: [], subdomains: false, ...change };
}

describe('ListSources', () => {
  test('create() answers at once; the list is fetched, compiled and in force soon after', async () => {
    const node = await startNode();
    const url = serve('/a', 'a.example\nno rule at all\n||b.example^\n', '"1"');
    const created = await node.life.create(source(url));
    expect(created).toMatchObject({ status: 'pending', rules: 0, last_checked_at: null });
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example'), kindsOf(node, 'c.example')]).toEqual([
      1, 2, 0,
    ]);
    expect(await node.life.read(created.id)).toMatchObject({
      status: 'ok',
      rules: 2,
      invalid_lines: 1,
      bytes: 38,
      format: 'domains',
      etag: '"1"',
      last_error: null,
      last_checked_at: new Date(node.clock.ms).toISOString(),
      last_changed_at: new Date(node.clock.ms).toISOString(),
    });
    expect(await node.life.unusedLines(created.id)).toEqual([
      { line: 2, reason: 'not a rule', text: 'no rule at all' },
    ]);
  });

  test('refresh() asks whether the list has changed, and compiles it only if it has', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n', '"1"')));
    await node.life.idle();
    const compiledAt = node.publisher.current().compiled;
    node.clock.ms += 1000;
    expect(await node.life.refresh(id)).toMatchObject({ id, status: 'updating' });
    await node.life.idle();
    expect(node.publisher.current().compiled).toBe(compiledAt);
    expect(await node.life.read(id)).toMatchObject({
      last_checked_at: new Date(node.clock.ms).toISOString(),
      last_changed_at: new Date(node.clock.ms - 1000).toISOString(),
    });
    serve('/a', 'a2.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a2.example')]).toEqual([0, 1]);
  });

  test.each<[string, RequestListener | undefined, RegExp]>([
    ['404', undefined, /answered 404/],
    ['an HTML page', (_, r) => r.end('<html>Sign in</html>'), /HTML/],
    ['nothing', (_, r) => r.end(), /empty/],
    ['comments only', (_, r) => r.end('# gone\n'), /no rule/],
    ['rules of no use', (_, r) => r.end('||a.example^$doc\n'), /line 1: modifier/],
    ['a closed connection', (request) => request.socket.destroy(), /fetch http/],
  ])('a fetch that brings %s keeps the last copy in force and says why', async (_what, answer, reason) => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.idle();
    if (answer === undefined) answers.delete('/a');
    else answers.set('/a', answer);
    await node.life.refresh(id);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringMatching(reason),
      rules: 1,
    });
    serve('/a', 'a.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', last_error: null });
  });

  test('update() has disabling, enabling, groups and subdomains in force when it resolves', async () => {
    const node = await startNode();
    await db.database.query("INSERT INTO groups (id, name) VALUES (7, 'kids')");
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.idle();
    const { compiled } = node.publisher.current();
    await node.life.update(id, { enabled: false });
    expect(kindsOf(node, 'a.example')).toBe(0);
    await node.life.update(id, { enabled: true });
    expect(kindsOf(node, 'a.example')).toBe(1);
    expect(node.publisher.current().compiled).toBe(compiled);
    await node.life.update(id, { group_ids: [7] });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([0, 1]);
    await node.life.update(id, { subdomains: true, group_ids: [] });
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', 7)]).toEqual([2, 2]);
    expect(asked).toEqual(['/a']);
  });

  test('update() of the URL keeps the old list in force until the new one is there', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n', '"1"')));
    await node.life.idle();
    let release = (): void => undefined;
    answers.set('/b', (request, response) => {
      expect(request.headers['if-none-match']).toBeUndefined();
      release = () => response.end('b.example\n');
    });
    expect(await node.life.update(id, { url: `${base}/b` })).toMatchObject({ status: 'pending', etag: null });
    await until(() => asked.includes('/b'));
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
    release();
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
  });

  test('remove() takes a list out of force at once and its names out of memory soon after', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.create(source(serve('/b', 'b.example\n')));
    await node.life.idle();
    await node.life.remove(id);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([0, 1]);
    await node.life.idle();
    expect(new RuleTable(node.publisher.current().snapshot.rules).nameCount).toBe(1);
    // Both copies stay: a rollback brings the list back.
    expect(readdirSync(join(dataDir, 'list-cache'))).toHaveLength(2);
    await expect(node.life.read(id)).rejects.toMatchObject({ status: 404 });
  });

  test('remove() ends a fetch at work', async () => {
    const node = await startNode();
    answers.set('/slow', (_, response) => void response.write('# slow\n'));
    const { id } = await node.life.create(source(`${base}/slow`));
    await until(() => asked.includes('/slow'));
    await node.life.remove(id);
    await node.life.idle();
    expect(await node.life.list()).toEqual([]);
  });

  test('a burst of new lists is fetched four at a time and compiled a few times at most', async () => {
    const node = await startNode();
    let atWork = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const fourAtWork = new Promise<void>((resolve) => (release = resolve));
    for (let index = 0; index < 12; index++) {
      answers.set(`/${index}`, (_, response) => {
        most = Math.max(most, ++atWork);
        // A fifth one would come while the fourth is at work.
        if (atWork === 4) setTimeout(release, 20);
        void fourAtWork.then(() => {
          atWork--;
          response.end(`n${index}.example\n`);
        });
      });
      await node.life.create(source(`${base}/${index}`, { name: `list ${index}`, enabled: false }));
    }
    await db.database.query('UPDATE list_sources SET enabled = true');
    expect((await node.life.refreshAll()).map(({ status }) => status)).toEqual(Array(12).fill('updating'));
    await node.life.idle();
    expect(most).toBe(4);
    expect(Array.from({ length: 12 }, (_, index) => kindsOf(node, `n${index}.example`))).toEqual(
      Array(12).fill(1),
    );
    expect((await node.life.list()).every(({ status }) => status === 'ok')).toBe(true);
  });

  test('a disabled source is not fetched until it is enabled', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n'), { enabled: false }));
    await node.life.idle();
    expect(asked).toEqual([]);
    await node.life.update(id, { enabled: true });
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('a restart gives back the memory of a list that was disabled', async () => {
    const first = await startNode();
    const { id } = await first.life.create(source(serve('/a', 'a.example\n')));
    await first.life.idle();
    await first.life.update(id, { enabled: false });
    expect(first.publisher.current().compiled.sources).toHaveLength(1);
    await first.stop();
    const second = await startNode();
    expect(second.publisher.current().compiled.sources).toEqual([]);
    await second.life.update(id, { enabled: true });
    expect(kindsOf(second, 'a.example')).toBe(1);
  });

  test('read() shows a source that waits for its turn as being updated', async () => {
    const node = await startNode();
    answers.set('/slow', (_, response) => void response.write('# slow\n'));
    const { id } = await node.life.create(source(`${base}/slow`));
    expect(await node.life.read(id)).toMatchObject({ status: 'updating' });
    expect((await node.life.list()).map(({ status }) => status)).toEqual(['updating']);
    await node.life.remove(id);
  });

  test('start() may be called again while lists are being fetched', async () => {
    const node = await startNode();
    let release = (): void => undefined;
    answers.set('/a', (_, response) => {
      response.write('a.example\n');
      release = () => response.end();
    });
    await node.life.create(source(`${base}/a`));
    await until(() => readdirSync(join(dataDir, 'list-cache')).length === 1);
    await node.life.start();
    release();
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('refuses a URL that another source has and groups that do not exist', async () => {
    const node = await startNode();
    const url = serve('/a', 'a.example\n');
    const { id } = await node.life.create(source(url));
    await expect(node.life.create(source(url))).rejects.toMatchObject({ status: 409 });
    await expect(node.life.update(id, { group_ids: [1, 99] })).rejects.toMatchObject({ status: 400 });
    await expect(node.life.update(99_999, { name: 'x' })).rejects.toMatchObject({ status: 404 });
    await expect(node.life.remove(99_999)).rejects.toMatchObject({ status: 404 });
    await expect(node.life.refresh(99_999)).rejects.toMatchObject({ status: 404 });
    expect(await node.life.list()).toHaveLength(1);
  });

  test('a restart answers from disk without fetching or compiling anything', async () => {
    const first = await startNode();
    await first.life.create(source(serve('/a', 'a.example\n')));
    await first.life.idle();
    await first.stop();
    asked = [];
    const second = await startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
    expect(asked).toEqual([]);
    expect(second.logger.text()).not.toContain('lists compiled');
    expect(second.publisher.current().snapshot.version).toBeGreaterThan(
      first.publisher.current().snapshot.version,
    );
  });

  test('a restart without snapshots compiles from the copies, without a fetch', async () => {
    const first = await startNode();
    await first.life.create(source(serve('/a', 'a.example\n')));
    await first.life.idle();
    await first.stop();
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    asked = [];
    const second = await startNode();
    expect(kindsOf(second, 'a.example')).toBe(1);
    await second.life.idle();
    expect(asked).toEqual([]);
  });

  test('a copy that was damaged on disk is reported and fetched again', async () => {
    const first = await startNode();
    const { id } = await first.life.create(source(serve('/a', 'a.example\n', '"1"')));
    await first.life.idle();
    await first.stop();
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    const [copy] = readdirSync(join(dataDir, 'list-cache'));
    truncateSync(join(dataDir, 'list-cache', copy!), 15);
    const second = await startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
    expect(await second.life.read(id)).toMatchObject({ status: 'ok', last_error: null });
  });

  test('looks for lists that are due: after a day, and after a failure within minutes', async () => {
    const node = await startNode();
    await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.create(source(`${base}/missing`, { name: 'missing' }));
    await node.life.idle();
    const look = async (minutes: number): Promise<string[]> => {
      asked = [];
      node.clock.ms += minutes * 60_000;
      await node.life.refreshDue();
      await node.life.idle();
      return asked.toSorted();
    };
    expect(await look(0)).toEqual([]);
    expect(await look(1)).toEqual(['/missing']);
    expect(await look(1)).toEqual([]);
    expect(await look(24 * 60)).toEqual(['/a', '/missing']);
  });

  test('a compile that dies leaves the rules before in force and is the last error of its source', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.idle();
    await node.pool.close();
    serve('/a', 'b.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 0]);
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringMatching(/lists: /),
    });
    // What needs no compile is in force all the same, and what does says why it is not.
    await node.life.update(id, { enabled: false });
    expect(kindsOf(node, 'a.example')).toBe(0);
    expect(await node.life.update(id, { enabled: true, subdomains: true })).toMatchObject({
      status: 'error',
    });
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  /** Rules that fill a small heap when they are compiled, and not while they are counted. */
  const HEAVY = Array.from(
    { length: 45_000 },
    (_, index) => `||a${index}.example^$denyallow=${`b${index}.example|`.repeat(18)}c.example\n`,
  ).join('');

  test('a first copy that ends the compile is refused and says why; other lists come into force', async () => {
    const node = await startNode(new CompilePool(24));
    const { id } = await node.life.create(source(serve('/heavy', HEAVY)));
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: expect.stringMatching(/^(compile|inspect) lists: .*memory/),
    });
    const other = await node.life.create(source(serve('/b', 'b.example\n')));
    await node.life.idle();
    expect(await node.life.read(other.id)).toMatchObject({ status: 'ok' });
    expect(kindsOf(node, 'b.example')).toBe(1);
  });

  test('a newer copy that ends the compile is refused; the one before stays in force, over a restart too', async () => {
    const node = await startNode(new CompilePool(24));
    const { id } = await node.life.create(source(serve('/a', 'a.example\n', '"1"')));
    await node.life.idle();
    serve('/a', `${HEAVY}a.example\n`, '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1);
    const refused = { status: 'error', last_error: expect.stringMatching(/memory/), rules: 1 };
    expect(await node.life.read(id)).toMatchObject(refused);
    // The same content is not compiled again, at the cost of all others.
    await node.life.refreshDue();
    await node.life.idle();
    const { id: otherId } = await node.life.create(source(serve('/b', 'b.example\n')));
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 1]);
    await node.stop();
    answers.clear();
    const next = await startNode();
    await next.life.idle();
    expect([kindsOf(next, 'a.example'), kindsOf(next, 'b.example')]).toEqual([1, 1]);
    // A copy that can be used ends it.
    serve('/a', 'a.example\nc.example\n', '"3"');
    await next.life.refresh(id);
    await next.life.idle();
    expect(await next.life.read(id)).toMatchObject({ status: 'ok', last_error: null, rules: 2 });
    expect(kindsOf(next, 'c.example')).toBe(1);
    expect((await next.life.read(otherId)).rules).toBe(1);
  });

  test('a copy that takes too long to read is refused and says why; the one before stays in force', async () => {
    const node = await startNode(new CompilePool(undefined, { baseMs: 500, msPerMib: 0 }));
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.idle();
    serve('/a', '\u00e4\u00f6\u00fc\u0416\u0434\u4e2d\u6587.example\n'.repeat(2_000_000));
    await node.life.refresh(id);
    const other = await node.life.create(source(serve('/b', 'b.example\n')));
    await node.life.idle();
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'b.example')]).toEqual([1, 1]);
    expect(await node.life.read(id)).toMatchObject({
      status: 'error',
      last_error: 'inspect lists: it took longer than 1 s',
    });
    expect(await node.life.read(other.id)).toMatchObject({ status: 'ok' });
  });

  test('close() ends fetches at work, and the next start takes them up again', async () => {
    const first = await startNode();
    answers.set('/a', (_, response) => void response.write('# slow\n'));
    const { id } = await first.life.create(source(`${base}/a`));
    await until(() => asked.includes('/a'));
    await first.stop();
    expect(await first.life.read(id)).toMatchObject({ status: 'pending', last_error: null });
    serve('/a', 'a.example\n');
    const second = await startNode();
    await second.life.idle();
    expect(kindsOf(second, 'a.example')).toBe(1);
  });

  const TEN = Array.from({ length: 10 }, (_, index) => `n${index}.example\n`).join('');

  test('a copy with less than half of the rules is held and says why; approve() applies it', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', TEN, '"1"')));
    await node.life.idle();
    serve('/a', 'n0.example\nn1.example\nn2.example\nn3.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    const held = { status: 'held', rules: 10, last_error: 'held: the list shrank from 10 to 4 rules' };
    expect(await node.life.read(id)).toMatchObject(held);
    expect(kindsOf(node, 'n9.example')).toBe(1);
    // Asking again changes nothing, whether the server says 304 or sends it once more.
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject(held);
    serve('/a', 'n0.example\nn1.example\nn2.example\nn3.example\n', '"3"');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject(held);
    expect(readdirSync(join(dataDir, 'list-cache'))).toHaveLength(2);

    expect(await node.life.approve(id)).toMatchObject({ status: 'ok', rules: 4, last_error: null });
    expect([kindsOf(node, 'n0.example'), kindsOf(node, 'n9.example')]).toEqual([1, 0]);
    await expect(node.life.approve(id)).rejects.toMatchObject({ status: 409 });
  });

  test('a copy that loses just half is taken, and so is one that comes back to its length', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', TEN)));
    await node.life.idle();
    serve('/a', 'n0.example\n'.repeat(4));
    await node.life.refresh(id);
    await node.life.idle();
    expect((await node.life.read(id)).status).toBe('held');
    serve('/a', TEN);
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', last_error: null });
    await expect(node.life.approve(id)).rejects.toMatchObject({ status: 409 });
    serve('/a', 'n0.example\nn1.example\nn2.example\nn3.example\nn4.example\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', rules: 5 });
  });

  test.each(['used.example', '||used.example^', '||example^', '*.example'])(
    'a copy that adds %j, which this network uses, is held',
    async (rule) => {
      const node = await startNode();
      mostAsked = ['other.test', 'used.example'];
      const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
      await node.life.idle();
      serve('/a', `a.example\n${rule}\n`);
      await node.life.refresh(id);
      await node.life.idle();
      expect(await node.life.read(id)).toMatchObject({
        status: 'held',
        last_error: 'held: it would block names that are much asked for here: used.example',
      });
      expect(kindsOf(node, 'used.example')).toBe(0);
    },
  );

  test('a name that the list blocked before, or allows itself, holds nothing up', async () => {
    const node = await startNode();
    mostAsked = ['old.example', 'fine.example'];
    const { id } = await node.life.create(source(serve('/a', 'old.example\n')));
    await node.life.idle();
    serve('/a', 'old.example\n||fine.example^\n@@||fine.example^\n');
    await node.life.refresh(id);
    await node.life.idle();
    expect(await node.life.read(id)).toMatchObject({ status: 'ok', rules: 3 });
  });

  test('a held copy survives a restart and is not taken for the one that counts', async () => {
    const first = await startNode();
    const { id } = await first.life.create(source(serve('/a', TEN)));
    await first.life.idle();
    serve('/a', 'n0.example\n');
    await first.life.refresh(id);
    await first.life.idle();
    await first.stop();
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    const second = await startNode();
    expect(kindsOf(second, 'n9.example')).toBe(1);
    expect(await second.life.approve(id)).toMatchObject({ status: 'ok', rules: 1 });
    expect(kindsOf(second, 'n9.example')).toBe(0);
  });

  test('an allowlist allows, beside blocklists with the same URL', async () => {
    const node = await startNode();
    const url = serve('/a', 'a.example\n');
    await node.life.create(source(url));
    const allow = await node.all.create('allow', source(url), 'tester');
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(1 | 4);
    await expect(node.life.read(allow.id)).rejects.toMatchObject({ status: 404 });
    await node.all.remove('allow', allow.id, 'tester');
    expect(kindsOf(node, 'a.example')).toBe(1);
  });

  test('a rollback restores the earlier list without a compile, and holds the copy it undid', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'good.example\n', '"1"')));
    await node.life.idle();
    const [{ id: good }] = (await listRevisions(db.database)) as [Revision];
    serve('/a', 'good.example\nbad.example\n', '"2"');
    await node.life.refresh(id);
    await node.life.idle();
    await node.publisher.settled();
    expect(kindsOf(node, 'bad.example')).toBe(1);
    const compiles = countOf(node.logger, 'lists compiled');

    await goBack(node, good);
    await node.life.idle();
    expect([kindsOf(node, 'good.example'), kindsOf(node, 'bad.example')]).toEqual([1, 0]);
    expect(countOf(node.logger, 'lists compiled')).toBe(compiles);
    expect(await node.life.read(id)).toMatchObject({
      status: 'held',
      rules: 1,
      last_error: `held: undone by going back to revision ${good}`,
    });
    // The same bad copy does not come back by itself, after a restart neither; a newer one does.
    await node.life.refresh(id);
    await node.life.idle();
    await node.stop();
    const second = await startNode();
    await second.life.idle();
    expect([kindsOf(second, 'bad.example'), (await second.life.read(id)).status]).toEqual([0, 'held']);
    serve('/a', 'good.example\nnew.example\n', '"3"');
    await second.life.refresh(id);
    await second.life.idle();
    expect([kindsOf(second, 'new.example'), (await second.life.read(id)).status]).toEqual([1, 'ok']);
  });

  test('a rollback brings back a list that was deleted', async () => {
    const node = await startNode();
    const { id } = await node.life.create(source(serve('/a', 'a.example\n')));
    await node.life.idle();
    const [{ id: good }] = (await listRevisions(db.database)) as [Revision];
    await node.life.remove(id);
    await node.life.idle();
    expect(kindsOf(node, 'a.example')).toBe(0);
    await goBack(node, good);
    expect(kindsOf(node, 'a.example')).toBe(1);
    expect((await listRevisions(db.database)).map(({ summary }) => summary).slice(0, 3)).toEqual([
      `rolled back to revision ${good}`,
      'blocklist ads: deleted',
      'blocklist ads: updated, 1 rules',
    ]);
  });

  test('rules that $badfilter takes back for everybody are not shown as in force, and the log names who is left', async () => {
    const node = await startNode();
    const { rows } = await db.database.query<{ id: number }>(
      `INSERT INTO groups (name) VALUES ('seven') RETURNING id`,
    );
    const [{ id: seven }] = rows as [{ id: number }];
    const rules = '||a.example^\n||b*.example^\n';
    await node.life.create(source(serve('/a', rules), { name: 'one' }));
    await node.life.create(
      source(serve('/b', `${rules}||c.example^\n`), { name: 'two', group_ids: [seven] }),
    );
    await node.life.idle();
    const bad = await node.life.create(
      source(serve('/bad', '||a.example^$badfilter\n||b*.example^$badfilter\n'), {
        name: 'bad',
        group_ids: [seven],
      }),
    );
    await node.life.idle();
    const shown = async () => {
      const { data } = await node.lists.page('block', { limit: 100, offset: 0, search: undefined });
      return data.map(({ domain, sources }) => `${domain} ${sources.join('+')}`).sort();
    };
    expect(await shown()).toEqual(['a.example one', 'c.example two', '||b*.example^ one']);
    expect([kindsOf(node, 'a.example'), kindsOf(node, 'a.example', seven)]).toEqual([2, 0]);
    const { snapshot } = node.publisher.current();
    const name = nameFromText('a.example')!;
    const rule = { origin: 0, index: attributeOf(node, 'a.example'), kinds: 2, name };
    const describe = (groupId: number) =>
      node.publisher.describeRule(snapshot.version, { ...rule, groupId })?.sources;
    expect([describe(1), describe(seven)]).toEqual([['one'], undefined]);
    expect(filterStats(node.publisher.current()).blocked_domains).toBe(2);
    await node.life.update(bad.id, { group_ids: [] });
    expect(await shown()).toEqual(['c.example two']);
    expect(filterStats(node.publisher.current()).blocked_domains).toBe(1);
  });

  test('the rules in force can be looked through, with their sources', async () => {
    const node = await startNode();
    await node.life.create(source(serve('/a', 'A.example\n||b.example^\n'), { name: 'one' }));
    await node.life.idle();
    const { id } = await node.life.create(
      source(serve('/b', 'a.example\nc.test\n@@||d.test^\n'), { name: 'two' }),
    );
    await node.life.idle();
    const page = async (kind: 'block' | 'allow', search?: string, limit = 100, offset = 0) => {
      const { data, total } = await node.lists.page(kind, { limit, offset, search });
      return [total, ...data.map(({ domain, match, sources }) => `${domain} ${match} ${sources.join('+')}`)];
    };
    expect(await page('block')).toEqual([
      3,
      'a.example exact one+two',
      'b.example subdomains one',
      'c.test exact two',
    ]);
    expect(await page('block', undefined, 1, 1)).toEqual([3, 'b.example subdomains one']);
    expect(await page('block', 'EXAMPLE')).toEqual([
      2,
      'a.example exact one+two',
      'b.example subdomains one',
    ]);
    expect(await page('block', 'example', 1, 1)).toEqual([2, 'b.example subdomains one']);
    expect(await page('block', 'nothing')).toEqual([0]);
    expect(await page('allow')).toEqual([1, 'd.test subdomains two']);
    await node.life.update(id, { enabled: false });
    expect(await page('block')).toEqual([2, 'a.example exact one', 'b.example subdomains one']);
    expect(await page('block', 'c.test')).toEqual([0]);
    await db.database.query(
      `INSERT INTO managed_domains (name, domain, action) VALUES ('mine', '*.x.test', 'deny')`,
    );
    await node.policy.apply();
    expect(await page('block', undefined, 2)).toEqual([3, 'x.test subdomains mine', 'a.example exact one']);
  });
});

function countOf(logger: MemoryLogger, message: string): number {
  return logger.lines.filter((line) => line.message === message).length;
}
