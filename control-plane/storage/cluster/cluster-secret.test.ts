import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until } from '../../../test/support/parts/until.ts';
import { ClusterSecret, deriveKey } from './cluster-secret.ts';

let own: TestDatabase;
let folder: string;
let logger: MemoryLogger;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  own = await startTestDatabase();
  folder = makeTempDir();
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await own.database.query('DELETE FROM cluster_secret');
});
afterAll(async () => {
  await own.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The secret of a node, by the name of its data directory. */
function secretOf(node: string): ClusterSecret {
  logger = new MemoryLogger();
  mkdirSync(join(folder, node), { recursive: true });
  return new ClusterSecret({ database: own.database, dataDir: join(folder, node), logger });
}

function keptBy(node: string): string {
  try {
    return readFileSync(join(folder, node, 'cluster-secret'), 'latin1').trim();
  } catch {
    return '';
  }
}

function hexOf(secret: ClusterSecret): string {
  return Buffer.from(secret.current()).toString('hex');
}

describe('ClusterSecret', () => {
  test('is the secret of the first node on every node, and is stored for a start without a database', async () => {
    const first = secretOf('first');
    const made = hexOf(first);
    stops.push(first.follow());
    await until(
      'the first node to keep its secret',
      () => keptBy('first'),
      (now) => now === made,
    );
    const second = secretOf('second');
    expect(hexOf(second)).not.toBe(made);
    stops.push(second.follow());
    await until(
      'the second node to keep the secret of the first',
      () => keptBy('second'),
      (now) => now === made,
    );
    expect(hexOf(second)).toBe(made);
    expect(hexOf(secretOf('second'))).toBe(made);
    expect(statSync(join(folder, 'second', 'cluster-secret')).mode & 0o777).toBe(0o600);
  });

  test('is the same for many nodes that start at the same time', async () => {
    const nodes = Array.from({ length: 5 }, (_, i) => secretOf(`node-${String(i)}`));
    for (const node of nodes) stops.push(node.follow());
    await until(
      'every node to keep a secret',
      () => nodes.map((_, i) => keptBy(`node-${String(i)}`)),
      (kept) => !kept.includes(''),
    );
    expect(new Set(nodes.map(hexOf)).size).toBe(1);
  });

  test('is read from the database if its file is damaged, and never logged', async () => {
    const first = secretOf('whole');
    stops.push(first.follow());
    await until(
      'the node to keep its secret',
      () => keptBy('whole'),
      (now) => now !== '',
    );
    mkdirSync(join(folder, 'damaged'));
    writeFileSync(join(folder, 'damaged', 'cluster-secret'), keptBy('whole').slice(1));
    const second = secretOf('damaged');
    stops.push(second.follow());
    await until(
      'the damaged file to be replaced',
      () => keptBy('damaged'),
      (now) => now === keptBy('whole'),
    );
    expect(logger.text()).toContain('the file with the cluster secret is damaged');
    expect(logger.text()).not.toContain(hexOf(first).slice(1, 16));
  });
});

test('deriveKey() returns a different key for each purpose and secret, of the requested size', () => {
  const secret = Buffer.alloc(32, 1);
  const hex = (...[of, purpose]: [Buffer, string]): string =>
    Buffer.from(deriveKey(of, purpose, 16)).toString('hex');
  expect(hex(secret, 'a')).toBe(hex(Buffer.alloc(32, 1), 'a'));
  expect(new Set([hex(secret, 'a'), hex(secret, 'b'), hex(Buffer.alloc(32, 2), 'a')]).size).toBe(3);
  expect(deriveKey(secret, 'a', 48)).toHaveLength(48);
});
