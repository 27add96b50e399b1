/**
 * A full disk: a small tmpfs is the data directory. DNS continues, data that cannot be stored are reported, and
 * everything recovers once there is space.
 *
 * @needs root
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import type { Health } from '../../../shared/api/system-api.ts';
import { Rcode } from '../../../shared/dns/iana.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { Question } from '../../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const SIZE = '160m';
const QUERIES = 5000;
const POLL_MS = 50;

/** A folder whose data directory is a small disk. */
function makeSmallDisk(): TempDir {
  const tempDir = makeTempDir();
  mkdirSync(tempDir.dataDir);
  const options = `size=${SIZE},mode=0711`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'weir-e2e', tempDir.dataDir]);
  return tempDir;
}

function removeSmallDisk(tempDir: TempDir): void {
  execFileSync('umount', [tempDir.dataDir]);
  tempDir.remove();
}

/** Fills the disk; returns a function that frees the space. */
function fillDisk(tempDir: TempDir): () => void {
  const file = join(tempDir.dataDir, 'filler');
  for (const chunk of [1 << 20, 4096, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(chunk), { flag: 'a' });
    } catch {
      continue; // The disk has no space for a piece of this size, but may have space for a smaller piece.
    }
  }
  return () => rmSync(file);
}

/** A source once its fetch has ended; null if the database is lost because the disk is full. */
async function fetched(api: ApiClient, id: number): Promise<BlocklistSource | null> {
  const { status, body } = await until(
    `the fetch of list ${String(id)} to be over`,
    () => api.call<BlocklistSource>('GET', `/blocklist-sources/${String(id)}`),
    (answer) => answer.status !== 200 || !['pending', 'updating'].includes(answer.body.status),
    { pauseMs: POLL_MS },
  );
  if (status === 503) return null;
  expect(status).toBe(200);
  return body;
}

describe('weir on a full disk', () => {
  const stack = new AsyncDisposableStack();
  let tempDir: TempDir;
  let lists: ListServer;
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    tempDir = makeSmallDisk();
    stack.defer(() => removeSmallDisk(tempDir));
    upstream = stack.use(await startEchoingUpstream());
    lists = await startListServer();
    stack.defer(() => lists.close());
    lists.serve('/first.txt', 'blocked.example.com\n');
    lists.serve(
      '/second.txt',
      Array.from({ length: 50_000 }, (_, i) => `n${String(i)}.example.net\n`).join(''),
    );
    await prepareDataDir(tempDir.dataDir);
  });
  afterAll(() => stack.disposeAsync());

  test('keeps answering and blocking, reports failed writes, and recovers when space is free again', async () => {
    await using weir = await Weir.start({ tempDir, upstreams: [`127.0.0.1:${String(upstream.port)}`] });
    const api = await weir.api();
    expect(await api.addSource({ name: 'first', url: lists.url('/first.txt') })).toMatchObject({
      status: 'ok',
    });
    using udp = await UdpClient.open(weir.dnsPort);

    const giveBack = fillDisk(tempDir);
    const questions = Array.from({ length: QUERIES }, (_, i): Question => ({
      name: `${String(i)}.full.example.com`,
      type: 'A',
    }));
    const replies = await udp.askAll(questions);
    expect(replies.every(({ rcode, data }) => rcode === Rcode.NOERROR && data.length === 1)).toBe(true);
    expect(await udp.ask('blocked.example.com', 'A')).toMatchObject({ data: ['0.0.0.0'] });
    const second = { name: 'second', url: lists.url('/second.txt') };
    // The database may have free space in its files; if not, it refuses the source.
    const { status, body } = await api.call<BlocklistSource>('POST', '/blocklist-sources', second);
    expect([201, 503]).toContain(status);
    const failed = status === 201 ? await fetched(api, body.id) : null;
    if (failed !== null) {
      expect(failed).toMatchObject({ status: 'error', rules: 0 });
      expect(failed.last_error).toMatch(/the disk is full/);
    }
    await weir.untilOutput(/the disk is full/);
    await weir.untilHealth(
      ({ checks: { database, disk } }) => database.status === 'degraded' && disk.status === 'degraded',
    );
    const { checks } = await api.expect<Health>(200, 'GET', '/health');
    expect(checks.disk.detail).toBe('the disk of the data directory is full');
    expect((await weir.health()).status).toBe(200);

    giveBack();
    await weir.untilHealth(
      ({ checks: { database, disk } }) => database.status === 'ok' && disk.status === 'ok',
    );
    // A 503 does not show whether the rule is stored: the database may have been lost at that moment.
    const stored = (await api.expect<BlocklistSource[]>(200, 'GET', '/blocklist-sources')).find(
      ({ url }) => url === second.url,
    );
    expect(status === 201 && stored?.id !== body.id).toBe(false);
    if (stored === undefined) await api.addSource(second);
    else {
      await api.expect(202, 'POST', `/blocklist-sources/${String(stored.id)}/refresh`);
      await api.settledSource(stored.id);
    }
    expect(await api.expect(200, 'GET', '/blocklist-sources')).toContainEqual(
      expect.objectContaining({ url: second.url, status: 'ok', rules: 50_000 }),
    );
    // Rows that fit neither into the database nor into the spool are kept in memory.
    const logged = await api.untilQueryCount(QUERIES, 'domain=.full.example.com');
    expect({ logged, isLost: weir.output.includes('they are lost') }).toEqual({
      logged: QUERIES,
      isLost: false,
    });
    expect(await udp.ask('n4711.example.net', 'A')).toMatchObject({ data: ['0.0.0.0'] });
    expect(await api.untilQueryCount(1, 'domain=n4711.example.net')).toBe(1);
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });
});
