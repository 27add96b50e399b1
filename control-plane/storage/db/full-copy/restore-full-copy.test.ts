/** Checks that restoring a full copy does not damage the database. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { makeTempDir } from '../../../../test/support/parts/test-database.ts';
import { restoreFullCopy } from './restore-full-copy.ts';
import { FRAME, jsonFrame, writeFrames } from './row-frames.ts';
import type { Frame } from './row-frames.ts';

const FIRST_MIGRATION = readdirSync(new URL('../../../../migrations', import.meta.url))
  .sort()[0]!
  .replace(/\.\w+$/, '');

let folder: string;
beforeAll(() => {
  folder = makeTempDir();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const table = (more: object): Frame => jsonFrame(FRAME.table, { name: 'groups', ...more });
const OF_PROGRAM = `"groups" ("name") FROM PROGRAM 'touch /tmp/weir-was-here'; COPY "groups" ("name")`;

test.each<[string, Frame]>([
  ['route', table({ route: OF_PROGRAM })],
  ['bound', table({ route: '"groups" ("name")', parent: 'groups', bound: `DEFAULT; DROP TABLE users` })],
  ['sequences', { type: FRAME.sequences, payload: Buffer.from(`COPY groups TO PROGRAM 'touch /tmp/x';`) }],
])(
  'restoreFullCopy() refuses a copy whose %s contains other SQL, and leaves no database',
  async (what, frame) => {
    const head = { weir: '1.2.3', created_at: '2026-01-01T00:00:00Z', migrations: [FIRST_MIGRATION] };
    const frames = Readable.from([jsonFrame(FRAME.head, head), frame]);
    const file = join(folder, `${what}.copy`);
    await writeFile(file, await buffer(Readable.from(writeFrames(frames))));
    const dataDir = join(folder, what);
    await mkdir(dataDir, { mode: 0o755 });
    const restored = restoreFullCopy({ file, dataDir, logger: new MemoryLogger(), report: () => undefined });
    await expect(restored).rejects.toThrow(`the copy has an invalid ${what}`);
    expect(existsSync(join(dataDir, 'postgres', 'cluster'))).toBe(false);
  },
);

test('restoreFullCopy() refuses a copy from before 0.1.0, and leaves no database', async () => {
  const head = {
    weir: '0.1.0',
    created_at: '2026-01-01T00:00:00Z',
    migrations: ['0001_groups', '0047_judged-copies'],
  };
  const file = join(folder, 'old.copy');
  await writeFile(
    file,
    await buffer(Readable.from(writeFrames(Readable.from([jsonFrame(FRAME.head, head)])))),
  );
  const dataDir = join(folder, 'old');
  await mkdir(dataDir, { mode: 0o755 });
  const restored = restoreFullCopy({ file, dataDir, logger: new MemoryLogger(), report: () => undefined });
  await expect(restored).rejects.toThrow(/^the copy was created by a version of Weir older than 0\.1\.0/);
  expect(existsSync(join(dataDir, 'postgres', 'cluster'))).toBe(false);
});
