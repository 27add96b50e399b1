import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { TestClock } from '../../../test/support/parts/test-clock.ts';
import { type ListServer, startListServer } from '../../../test/support/weir/list-server.ts';
import { NO_OWN_HOST, SMALL_LIMITS } from '../../../test/support/weir/small-fetch.ts';
import { LIST_READING } from '../../policy/compile/parse/list-statistics.ts';
import { CompilePool } from '../../policy/compile/table/compile-pool.ts';
import { ListCache } from './list-cache.ts';
import { refreshSource, type Refreshed, type RefreshParts } from './refresh-source.ts';
import { RefusedCopies } from './refused-copies.ts';
import type { StoredSource } from './source-store.ts';

const TEN = Array.from({ length: 10 }, (_, index) => `n${index}.example\n`).join('');

let server: ListServer;
let pool: CompilePool;
let dataDir: string;
let cache: ListCache;
let refused: RefusedCopies;
let mostAsked: string[];
let namesOfDay: string[];

beforeAll(async () => {
  server = await startListServer();
  pool = new CompilePool();
});
beforeEach(() => {
  server.reset();
  dataDir = makeTempDir();
  cache = new ListCache(dataDir);
  refused = new RefusedCopies(new TestClock());
  mostAsked = [];
  namesOfDay = [];
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
afterAll(async () => {
  await pool.close();
  await server.close();
});

/** The row of a source that has not been fetched yet. */
function row(change: Partial<StoredSource> = {}): StoredSource {
  return {
    id: 1,
    kind: 'block',
    name: 'ads',
    url: server.url('/a'),
    enabled: true,
    comment: '',
    group_ids: [],
    subdomains: false,
    has_text: false,
    format: null,
    status: 'pending',
    rules: 0,
    invalid_lines: 0,
    bytes: 0,
    etag: null,
    lastModified: null,
    last_checked_at: null,
    last_changed_at: null,
    last_error: null,
    held: null,
    file_node: null,
    hasReader: false,
    contentKey: null,
    heldKey: null,
    judged: null,
    contentUrlKey: null,
    isKept: false,
    failures: 0,
    ...change,
  };
}

function serve(text: string, etag?: string): void {
  server.serve('/a', (request, response) => {
    if (etag !== undefined && request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, etag === undefined ? {} : { ETag: etag }).end(text);
  });
}

function refresh(source: StoredSource, change: Partial<RefreshParts> = {}): Promise<Refreshed> {
  const parts = {
    cache,
    refused,
    pool,
    mostAsked: { names: async () => mostAsked, ofLastDay: async () => namesOfDay },
    listDirs: () => [],
    bounds: NO_OWN_HOST,
    limits: SMALL_LIMITS,
    ...change,
  };
  return refreshSource(source, parts, new AbortController().signal);
}

/** Refreshes a source and activates the copy; returns its row afterwards. */
async function takeFirst(
  text: string,
  etag?: string,
  change: Partial<StoredSource> = {},
): Promise<StoredSource> {
  serve(text, etag);
  const source = row(change);
  const refreshed = await refresh(source);
  if (refreshed.outcome !== 'new') throw new Error(`take first copy: ${refreshed.outcome}`);
  cache.use(source.id, refreshed.copy.contentKey);
  cache.settle(refreshed.copy);
  return { ...source, etag: etag ?? null, contentKey: refreshed.copy.contentKey, isKept: true };
}

/** Files in the directory of the cache. */
function files(): string[] {
  return readdirSync(join(dataDir, 'list-cache'));
}

describe('refreshSource()', () => {
  test('accepts a first copy with all its metadata, and leaves no temporary file', async () => {
    serve('a.example\nno rule at all\n||b.example^\n', '"1"');
    const refreshed = await refresh(row());
    expect(refreshed).toEqual({
      outcome: 'new',
      facts: {
        etag: '"1"',
        lastModified: null,
        bytes: 38,
        rules: 2,
        invalidLines: 1,
        format: 'domains',
        contentKey: expect.stringMatching(/^[0-9a-f]{32}$/),
        heldKey: null,
        judged: {
          content_key: expect.stringMatching(/^[0-9a-f]{32}$/),
          reading: LIST_READING,
          ...{ wide_rules: [], address_share: 0 },
        },
      },
      copy: expect.objectContaining({ path: expect.stringContaining('list-cache') }),
    });
    expect(files()).toEqual([expect.stringMatching(/^1-.*\.gz$/)]);
    // The copy only becomes active when the caller decides so.
    expect(cache.copyOf(1)).toBeUndefined();
  });

  test('does not hold a first copy because it matches one frequently queried name', async () => {
    mostAsked = ['used.example'];
    namesOfDay = ['used.example'];
    serve('used.example\n');
    expect(await refresh(row())).toMatchObject({ outcome: 'new' });
  });

  test('holds a first copy that matches more than half of the names queried in the last day', async () => {
    namesOfDay = Array.from({ length: 1000 }, (_, index) => `n${index}.example`);
    serve('||example^\n');
    const refreshed = await refresh(row());
    expect(refreshed).toMatchObject({
      outcome: 'held',
      facts: { held: { reason: 'most_names', rules: 1, rules_in_force: 0, name_count: 1000 } },
    });
    expect(refreshed.facts.held?.names).toEqual(namesOfDay.slice(0, 20));
    expect(refreshed.facts).not.toHaveProperty('contentKey');
    // An allowlist that would disable filtering is also held.
    expect(await refresh(row({ id: 2, kind: 'allow' }))).toMatchObject({ outcome: 'held' });
  });

  test('checks all names queried in the last day if the result of a sample is near the limit', async () => {
    namesOfDay = Array.from(
      { length: 10_000 },
      (_, index) => `n${index}.${index < 5001 ? 'a' : 'b'}.example`,
    );
    serve('||a.example^\n');
    expect(await refresh(row())).toMatchObject({ outcome: 'held', facts: { held: { name_count: 5001 } } });
    namesOfDay = namesOfDay.slice(1);
    namesOfDay.push('n10000.b.example');
    expect(await refresh(row())).toMatchObject({ outcome: 'new' });
  });

  test.each([
    ['/./$client=192.0.2.7', 'every_name', 'held: line 2 applies to every name: /./$client=192.0.2.7'],
    ['@@/[a-z]/$dnstype=TXT', 'every_name', 'held: line 2 applies to every name: @@/[a-z]/$dnstype=TXT'],
    ['/.*/$denyallow=com|net', 'every_name', 'held: line 2 applies to every name: /.*/$denyallow=com|net'],
    ['.*;querytype=AAAA', 'every_name', 'held: line 2 applies to every name: .*;querytype=AAAA'],
    ['||*^$dnstype=AAAA', 'every_name', 'held: line 2 applies to every name: ||*^$dnstype=AAAA'],
    ['*$denyallow=com|net', 'every_name', 'held: line 2 applies to every name: *$denyallow=com|net'],
    ['* CNAME .', 'every_name', 'held: line 2 applies to every name: * CNAME .'],
    ['0.0.0.0/7', 'addresses', 'held: its address rules cover 0.78 % of all addresses'],
    ['2000::/10', 'addresses', 'held: its address rules cover 0.78 % of all addresses'],
    ['/^[0-9]+(\\.[0-9]+){3}$/', 'addresses', 'held: its address rules cover 100 % of all addresses'],
  ])('holds a copy with %s, even a first one, until it is approved', async (line, reason, text) => {
    serve(`a.example\n${line}\n`, '"1"');
    const first = await refresh(row());
    expect(first).toMatchObject({ outcome: 'held', reason: text, facts: { held: { reason, rules: 2 } } });
    const held = { ...row(), heldKey: first.facts.heldKey ?? null, last_error: text };
    // The list is fetched again completely, because no copy is active and known.
    expect(await refresh(held)).toMatchObject({ outcome: 'held', reason: text });
    expect(server.requests.at(-1)!.headers).not.toHaveProperty('if-none-match');
    cache.use(1, held.heldKey!);
    const confirmed = { ...held, heldKey: null, contentKey: held.heldKey, isKept: true };
    serve(`a.example\nb.example\n${line}\n`, '"2"');
    expect(await refresh(confirmed)).toMatchObject({ outcome: 'new', facts: { rules: 3 } });
    const plain = await takeFirst('c.example\n', '"3"', { id: 2 });
    serve(`c.example\n${line}\n`, '"4"');
    expect(await refresh(plain)).toMatchObject({ outcome: 'held', reason: text });
  });

  test('requests the list conditionally only if its copy is on disk', async () => {
    const source = await takeFirst('a.example\n', '"1"');
    expect(await refresh(source)).toEqual({ outcome: 'unchanged', facts: {} });
    expect(await refresh({ ...source, id: 2 })).toMatchObject({ outcome: 'new' });
    server.serve('/b', 'a.example\n');
    expect(await refresh({ ...source, url: server.url('/b'), isKept: false })).toMatchObject({
      outcome: 'new',
    });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"1"',
      undefined,
      undefined,
    ]);
  });

  test('reports the same text with another ETag as unchanged, and discards a held update', async () => {
    const source = await takeFirst('a.example\n', '"1"');
    serve('a.example\n', '"2"');
    expect(await refresh({ ...source, heldKey: 'another' })).toEqual({
      outcome: 'unchanged',
      facts: { etag: '"2"', lastModified: null, bytes: 10, heldKey: null },
    });
    expect(files()).toHaveLength(1);
  });

  test('holds a copy with less than half of the rules, keeps it on disk and reports the reason', async () => {
    const source = await takeFirst(TEN, '"1"');
    serve('n0.example\n'.repeat(4), '"2"');
    const reason = 'held: the list shrank from 10 to 4 rules';
    const refreshed = await refresh(source);
    expect(refreshed).toMatchObject({
      outcome: 'held',
      reason,
      facts: { etag: '"2"', lastModified: null, lastError: reason, heldKey: expect.any(String) },
    });
    const held = { reason: 'shrank', rules: 4, rules_in_force: 10, names: [], name_count: 0 };
    expect(refreshed.facts.held).toEqual(held);
    expect(refreshed.facts).not.toHaveProperty('rules');
    expect(files()).toHaveLength(2);
  });

  test('keeps an update held if the server responds with 304 or sends the same text again', async () => {
    const before = await takeFirst(TEN, '"1"');
    serve('n0.example\n', '"2"');
    const { facts } = await refresh(before);
    const reason = 'held: for a reason';
    const source = { ...before, etag: '"2"', heldKey: facts.heldKey ?? null, last_error: reason };
    expect(await refresh(source)).toEqual({ outcome: 'held', facts: { lastError: reason }, reason });
    serve('n0.example\n', '"3"');
    const again = { etag: '"3"', lastModified: null, lastError: reason };
    expect(await refresh(source)).toEqual({ outcome: 'held', facts: again, reason });
    expect(await refresh({ ...source, last_error: null })).toMatchObject({ reason: 'held' });
    // The list has its previous length again and equals the active copy.
    serve(TEN, '"4"');
    expect(await refresh(source)).toMatchObject({ outcome: 'unchanged', facts: { heldKey: null } });
  });

  test('accepts a copy that loses exactly half of the rules', async () => {
    const source = await takeFirst(TEN);
    serve('n0.example\nn1.example\nn2.example\nn3.example\nn4.example\n');
    expect(await refresh(source)).toMatchObject({ outcome: 'new', facts: { rules: 5 } });
  });

  test.each(['used.example', '||used.example^', '||example^', '*.example'])(
    'holds a copy that newly blocks a frequently queried name with %j',
    async (rule) => {
      mostAsked = ['other.test', 'used.example'];
      const source = await takeFirst('a.example\n');
      serve(`a.example\n${rule}\n`);
      expect(await refresh(source)).toMatchObject({
        outcome: 'held',
        reason: 'held: it would block frequently queried names: used.example',
      });
    },
  );

  test('does not hold a copy for a name that the list already blocked, or allows itself', async () => {
    mostAsked = ['old.example', 'fine.example'];
    const source = await takeFirst('old.example\n');
    serve('old.example\n||fine.example^\n@@||fine.example^\n');
    expect(await refresh(source)).toMatchObject({ outcome: 'new', facts: { rules: 3 } });
  });

  test('holds an allowlist that no longer allows frequently queried names', async () => {
    mostAsked = ['used.example'];
    const source = await takeFirst('used.example\na.example\n', '"1"', { kind: 'allow' });
    serve('a.example\nb.example\n');
    expect(await refresh(source)).toMatchObject({
      outcome: 'held',
      reason: 'held: it would no longer allow frequently queried names: used.example',
    });
    const block = await takeFirst('@@||used.example^\na.example\n', undefined, { id: 2 });
    serve('a.example\nb.example\n');
    expect(await refresh(block)).toMatchObject({ outcome: 'new' });
  });

  test('does not compare a new copy with an old one that is no longer readable', async () => {
    const source = await takeFirst(TEN);
    truncateSync(cache.copyOf(1)!.path, 15);
    serve('n0.example\n');
    expect(await refresh(source)).toMatchObject({ outcome: 'new', facts: { rules: 1 } });
  });

  test.each([
    ['comments only', '# gone\n', { name: 'ListError', code: 'empty' }],
    ['only rules that Weir cannot apply', '||a.example^$doc\n', { name: 'ListError', code: 'no_rules' }],
    ['a web page', '<html>', { name: 'ListError', code: 'not_a_list' }],
  ])('refuses %s and leaves nothing behind', async (_what, text, fault) => {
    serve(text);
    await expect(refresh(row())).rejects.toMatchObject(fault);
    expect(files()).toEqual([]);
  });

  test('refuses a copy whose compilation takes too long, and does not compile it again', async () => {
    const slow = new CompilePool(undefined, { baseMs: 1, msPerMib: 0 });
    const limits = {
      ...SMALL_LIMITS,
      textBytes: 100_000_000,
      lines: 10_000_000,
      compressedBytes: 100_000_000,
    };
    serve('\u00e4\u00f6\u00fc\u0416\u0434\u4e2d\u6587.example\n'.repeat(300_000));
    const fault = { name: 'CompileError', message: 'could not inspect lists: it took longer than 1 s' };
    await expect(refresh(row(), { pool: slow, limits })).rejects.toMatchObject(fault);
    await slow.close();
    // The copy stays rejected: it is not read again, neither with a pool that has enough time nor with a closed one.
    await expect(refresh(row(), { limits })).rejects.toMatchObject(fault);
    await expect(refresh(row(), { pool: slow, limits })).rejects.toMatchObject(fault);
    expect(files()).toEqual([]);
  });

  test('does not reject a copy if its compilation failed because the pool was closed', async () => {
    const closed = new CompilePool();
    await closed.close();
    serve('a.example\n');
    await expect(refresh(row(), { pool: closed })).rejects.toMatchObject({
      name: 'CompileError',
      list: null,
    });
    expect(await refresh(row())).toMatchObject({ outcome: 'new' });
  });

  test('reads no file outside the list folders', async () => {
    await expect(refresh(row({ url: 'file:///etc/hosts' }))).rejects.toMatchObject({ code: 'refused_path' });
  });
});
