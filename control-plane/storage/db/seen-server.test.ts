import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { isBehind, SeenServer } from './seen-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-seen-'));
let logger: MemoryLogger;
let seen: SeenServer;
beforeEach(() => {
  logger = new MemoryLogger();
  seen = new SeenServer(folder, logger);
  rmSync(seen.path, { force: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const MIB = 1_048_576;
const SEEN = { system: '7', timeline: 2, position: 10 * MIB };

describe('isBehind()', () => {
  test.each([
    ['the same server', false, {}],
    ['an old primary, which has written more', true, { timeline: 1, position: 20 * MIB }],
    ['a promoted standby of a primary that had written more', false, { timeline: 3, position: MIB }],
    ['an older copy', true, { position: 5 * MIB }],
    ['a server that lost its last WAL record in a crash', false, { position: 10 * MIB - 8192 }],
    ['another database system', false, { system: '8', timeline: 1, position: 1 }],
    ['an older copy of another database system', false, { system: '8', position: 1 }],
  ])('of %s is %p', (_, expected, now) => {
    expect(isBehind({ ...SEEN, ...now }, SEEN)).toBe(expected);
  });
});

describe('SeenServer', () => {
  test('returns the last server after a restart, and writes only changes', async () => {
    expect(seen.load()).toBeNull();
    await seen.note(SEEN);
    await seen.note({ ...SEEN, position: SEEN.position + 1000 });
    expect(new SeenServer(folder, logger).load()).toEqual(SEEN);
    const further = { ...SEEN, position: 12 * MIB };
    await seen.note(further);
    expect(new SeenServer(folder, logger).load()).toEqual(further);
    expect(logger.lines).toEqual([]);
  });

  test('returns null if its file was deleted, and logs that the database was replaced', async () => {
    await seen.note(SEEN);
    await seen.note({ ...SEEN, system: '8', timeline: 1 });
    expect(logger.text()).toContain('the database was replaced; using the data of the new database');
    rmSync(seen.path);
    expect(seen.load()).toBeNull();
  });

  test('works in memory if its file can be neither written nor read', async () => {
    const lost = new SeenServer(join(folder, 'no-such-folder'), logger);
    await lost.note(SEEN);
    await lost.note({ ...SEEN, timeline: 3 });
    expect(lost.load()).toEqual({ ...SEEN, timeline: 3 });
    expect(logger.lines).toHaveLength(1);
    await seen.note(SEEN);
    writeFileSync(seen.path, '{"system":7}');
    expect(seen.load()).toEqual(SEEN);
    expect(logger.text()).toContain('read the position of the database server');
  });

  test('rewrites a file that it could not read, and warns once', async () => {
    await seen.note(SEEN);
    writeFileSync(seen.path, '');
    await seen.note(SEEN);
    await seen.note(SEEN);
    expect(new SeenServer(folder, logger).load()).toEqual(SEEN);
    expect(logger.lines).toHaveLength(1);
  });

  test('keeps the last of several concurrent writes', async () => {
    await Promise.all([3, 4, 5].map((timeline) => seen.note({ ...SEEN, timeline })));
    expect(new SeenServer(folder, logger).load()).toEqual({ ...SEEN, timeline: 5 });
    expect(logger.lines).toEqual([]);
  });
});
