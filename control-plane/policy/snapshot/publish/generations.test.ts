import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeState } from '../../../../shared/threads/messages.ts';
import { MemoryLogger } from '../../../../test/support/parts/memory-logger.ts';
import { compiledFrom } from '../../../../test/support/parts/test-rules.ts';
import { type BlockingSettings } from '../../change/blocking-settings.ts';
import { type CompiledRules } from '../../compile/table/compiled-rules.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../change/rows.ts';
import { type PublishedState } from '../published-state.ts';
import { Generations } from './generations.ts';
import { buildSnapshot } from '../build/snapshot-builder.ts';
import { firstNodeState, startingState } from './starting-state.ts';
import { PolicyTable } from '../../../../shared/snapshot/policy-table.ts';

const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};
const RULES = compiledFrom([
  {
    id: 10,
    names: [
      ['a.example', 1],
      ['b.example', 2],
    ],
  },
]);
const OTHER_RULES = compiledFrom([{ id: 10, names: [['c.example', 1]] }], 2);

let dataDir: string;
let folder: string;
let logger: MemoryLogger;
let generations: Generations;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-generations-'));
  folder = join(dataDir, 'snapshots');
  logger = new MemoryLogger();
  generations = new Generations(dataDir, logger);
  await generations.load();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function state(version: number, compiled: CompiledRules = RULES, publishedAtMs = 0): PublishedState {
  const rows: PolicyRows = {
    ...NO_POLICY_ROWS,
    groups: [{ id: 1, enabled: true }],
    sources: [{ id: 10, name: 'ads', kind: 'block', enabled: true, groupIds: [] }],
    managedDomains: [
      { id: 1, name: 'one', domain: 'x.example', suffix: false, action: 'deny', groupId: null },
    ],
  };
  const snapshot = buildSnapshot(version, compiled, rows, BLOCKING, NOTHING_LIVE);
  return { snapshot, compiled, rows, publishedAtMs };
}

function bytesOf(buffer: SharedArrayBuffer): string {
  return Buffer.from(new Uint8Array(buffer)).toString('hex');
}

function files(pattern: RegExp): string[] {
  return readdirSync(folder)
    .filter((file) => pattern.test(file))
    .sort();
}

/** The version that a starting node would load. */
async function loadedVersion(): Promise<number | undefined> {
  return (await new Generations(dataDir, logger).load()).kept?.version;
}

describe('Generations, the policy snapshots on disk,', () => {
  test('load nothing from a new directory', async () => {
    await expect(generations.load()).resolves.toEqual({ kept: undefined, highestVersion: 0 });
  });

  test('load the saved data, byte for byte', async () => {
    const saved = state(5);
    await generations.save(saved);
    const { kept: loaded, highestVersion } = await new Generations(dataDir, logger).load();
    expect(highestVersion).toBe(5);
    expect(bytesOf(loaded!.compiled.rules)).toBe(bytesOf(saved.snapshot.rules));
    expect(bytesOf(loaded!.compiled.special)).toBe(bytesOf(saved.compiled.special));
    expect(loaded!.compiled.attributes).toEqual(saved.compiled.attributes);
    expect(loaded!.compiled.sources).toEqual(saved.compiled.sources);
    expect(loaded!.rows).toEqual(saved.rows);
  });

  test('share the file of a rule table, and consist of the last twenty snapshots', async () => {
    for (const version of [1, 2, 3]) await generations.save(state(version));
    expect(files(/^rules-/)).toHaveLength(1);
    for (let version = 4; version <= 22; version++) await generations.save(state(version, OTHER_RULES));
    expect(files(/^rules-/)).toHaveLength(2);
    expect((await generations.rulesIds()).size).toBe(2);
    await generations.save(state(23, OTHER_RULES));
    expect(files(/^rules-/)).toHaveLength(1);
    const kept = files(/^generation-/).map((file) => Number(file.slice(11, 21)));
    expect(kept).toEqual(Array.from({ length: 20 }, (_, index) => index + 4));
  });

  test('return with at() the snapshot of a given time, with the active rule table if it is the same', async () => {
    for (const [version, atMs] of [
      [1, 0],
      [2, 10_000],
      [3, 20_000],
      [5, 30_000],
      [6, 40_000],
    ] as const)
      await generations.save(state(version, version < 5 ? RULES : OTHER_RULES, atMs));
    const versionAt = async (ms: number): Promise<number | undefined> =>
      (await generations.at(ms, OTHER_RULES))?.version;
    // Nothing is found for times before the first generation, during a change, and of a missing generation.
    const found = [9000, 11_000, 12_000, 19_999, 25_000, 31_000, 35_000, 41_000, 99_000];
    expect(await Promise.all(found.map(versionAt))).toEqual([
      ...[undefined, undefined, 2, 2, undefined, undefined, 5, undefined, 6],
    ]);
    expect((await generations.at(35_000, OTHER_RULES))!.compiled.rules).toBe(OTHER_RULES.rules);
    expect(bytesOf((await generations.at(15_000, OTHER_RULES))!.compiled.rules)).toBe(bytesOf(RULES.rules));
    truncateSync(join(folder, files(/-0000000005-/)[0]!), 20);
    expect(await Promise.all([35_000, 99_000].map(versionAt))).toEqual([undefined, 6]);
  });

  test('read in at() only the files that were written around the given time', async () => {
    for (let version = 1; version <= 8; version++) {
      await generations.save(state(version, RULES, version * 10_000));
      const secs = version * 10 + 1;
      utimesSync(join(folder, files(new RegExp(`-000000000${version}-`))[0]!), secs, secs);
    }
    for (const version of [1, 2, 6, 7, 8])
      truncateSync(join(folder, files(new RegExp(`-000000000${version}-`))[0]!), 20);
    expect((await generations.at(45_000, RULES))?.version).toBe(4);
    // The generation is active, but not written yet.
    utimesSync(join(folder, files(/-0000000004-/)[0]!), 48, 48);
    expect((await generations.at(45_000, RULES))?.version).toBe(4);
  });

  test('return with findRules() a rule table that is not the newest, and skip damaged ones', async () => {
    await generations.save(state(1));
    await generations.save(state(2, OTHER_RULES));
    const first = state(1).compiled.sources.map(({ inputKey }) => inputKey);
    const isFirst = (sources: readonly { readonly inputKey: string }[]): boolean =>
      sources.map(({ inputKey }) => inputKey).join() === first.join();
    const found = await generations.findRules(isFirst);
    expect(found?.sources.map(({ inputKey }) => inputKey)).toEqual(first);
    expect(bytesOf(found!.rules)).toBe(bytesOf(state(1).compiled.rules));
    truncateSync(join(folder, files(/-0000000001-/)[0]!), 20);
    await expect(generations.findRules(isFirst)).resolves.toBeUndefined();
    await expect(
      new Generations(join(dataDir, 'nothing'), logger).findRules(() => true),
    ).resolves.toBeUndefined();
  });

  test('load data that was written by a release without some of the tables', async () => {
    const { clients: _, blockingSwitch: __, accessGraceEndMs: ___, ...older } = state(5).rows;
    await generations.save({ ...state(5), rows: older as PolicyRows });
    const { kept } = await generations.load();
    expect(kept!.rows).toEqual(state(5).rows);
  });

  test('are readable and writable by their own user only', async () => {
    await generations.save(state(1));
    expect(files(/./).map((file) => statSync(join(folder, file)).mode & 0o777)).toEqual([0o600, 0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('load the previous snapshot if a file is truncated, at any length', async () => {
    await generations.save(state(1));
    await generations.save(state(2, OTHER_RULES));
    for (const file of files(/-0000000002-|^rules-00000002/)) {
      const whole = readFileSync(join(folder, file));
      for (let length = whole.length - 1; length >= 0; length -= Math.ceil(whole.length / 40)) {
        truncateSync(join(folder, file), length);
        await expect(loadedVersion()).resolves.toBe(1);
      }
      writeFileSync(join(folder, file), whole);
    }
    await expect(loadedVersion()).resolves.toBe(2);
  });

  test('load the previous snapshot if any bit has changed, and do not reuse the version of the damaged one', async () => {
    await generations.save(state(1));
    await generations.save(state(2, OTHER_RULES));
    for (const file of files(/-0000000002-|^rules-00000002/)) {
      const whole = readFileSync(join(folder, file));
      const step = Math.ceil(whole.length / 150);
      for (let at = 0; at < whole.length; at += at < 64 ? 1 : step) {
        // Skips the padding of the header, which has no meaning.
        if (file.startsWith('rules-') && at >= 36 && at < 64) continue;
        const damaged = Buffer.from(whole);
        damaged[at]! ^= 0x10;
        writeFileSync(join(folder, file), damaged);
        const { kept: loaded, highestVersion } = await new Generations(dataDir, logger).load();
        expect([file, at, loaded?.version, highestVersion]).toEqual([file, at, 1, 2]);
      }
      writeFileSync(join(folder, file), whole);
    }
    expect(logger.text()).toContain(
      'skipped a damaged policy snapshot on disk; an older one is used if there is one',
    );
  });

  test('load the previous snapshot if the file of the rule table is missing', async () => {
    await generations.save(state(1));
    await generations.save(state(2, OTHER_RULES));
    rmSync(join(folder, files(/^rules-00000002/)[0]!));
    await expect(loadedVersion()).resolves.toBe(1);
  });

  test('ignore and delete files of a writer that was killed', async () => {
    await generations.save(state(1));
    writeFileSync(join(folder, 'generation-0000000002-x.weir.tmp'), 'half');
    writeFileSync(join(folder, 'rules-x.weir.tmp'), 'half');
    await expect(loadedVersion()).resolves.toBe(1);
    expect(files(/\.tmp$/)).toEqual([]);
  });

  test('throw in save() if the file cannot be written', async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file where the folder should be');
    await expect(generations.save(state(2))).rejects.toThrow(/ENOTDIR/);
  });
});

describe('startingState()', () => {
  test('is the empty snapshot at the very first start', async () => {
    const { snapshot, rows } = await startingState(generations, BLOCKING, () => NOTHING_LIVE);
    expect(snapshot.version).toBe(0);
    expect(rows.sources).toEqual([]);
  });

  test('is the newest snapshot on disk with a new version and the current settings', async () => {
    await generations.save(state(8));
    const { snapshot, compiled } = await startingState(
      generations,
      { ...BLOCKING, mode: 'refused' },
      () => NOTHING_LIVE,
    );
    expect(snapshot.version).toBe(9);
    expect(new PolicyTable(snapshot.policy)).toMatchObject({ snapshotVersion: 9, blockingMode: 3 });
    expect(compiled.sources.map(({ id }) => id)).toEqual([10]);
  });

  test('uses a higher version than all snapshots on disk even if they are damaged', async () => {
    await generations.save(state(8));
    truncateSync(join(folder, files(/^generation-/)[0]!), 10);
    const { snapshot, rows } = await startingState(generations, BLOCKING, () => NOTHING_LIVE);
    expect(snapshot.version).toBe(9);
    expect(rows.sources).toEqual([]);
  });
});

describe('noteReady()', () => {
  test('is visible after a restart, and leaves the snapshots on disk unchanged', async () => {
    await generations.save(state(8));
    expect(await generations.wasReady()).toBe(false);
    await generations.noteReady();
    await generations.noteReady();
    await expect(loadedVersion()).resolves.toBe(8);
    expect(await generations.wasReady()).toBe(true);
  });
});

describe('firstNodeState()', () => {
  const source = { id: 10, enabled: true };
  const noRules = { ...RULES, sources: [] };
  const { HOLDING, STARTING, READY } = NodeState;
  test.each([
    ['no policy was active before', [], RULES, undefined, [HOLDING, STARTING, HOLDING]],
    ['a list is enabled, and none has been compiled', [source], noRules, 1, [HOLDING, STARTING, READY]],
    ['no list is enabled', [{ ...source, enabled: false }], noRules, 1, [READY, READY, READY]],
    ['a list is active', [source], RULES, 1, [READY, READY, READY]],
  ])(
    'depends on the policy and on the previous process if %s',
    (_what, sources, compiled, publishedAtMs, expected) => {
      const { snapshot, rows } = state(1);
      const known = publishedAtMs === undefined ? {} : { publishedAtMs };
      const given = { snapshot, compiled, rows: { ...rows, sources: sources as never }, ...known };
      expect([HOLDING, STARTING, READY].map((before) => firstNodeState(given, before))).toEqual(expected);
    },
  );
});

describe('very many managed domains in the snapshots on disk', () => {
  const managed = (id: number): PolicyRows['managedDomains'][number] => ({
    ...{ id, name: `rule ${id}`, domain: `n${id}.example`, suffix: false, action: 'deny', groupId: null },
  });
  const withManaged = (version: number, managedDomains: PolicyRows['managedDomains']): PublishedState => {
    const { rows, ...others } = state(version);
    return { ...others, rows: { ...rows, managedDomains } };
  };
  const many = Array.from({ length: 2500 }, (_, index) => managed(2 * index));

  test('are in one shared file, and each snapshot contains only its changes', async () => {
    const [first, ...rest] = many;
    const changed = [managed(1), { ...rest[0]!, domain: 'other.example' }, ...rest.slice(1)];
    await generations.save(withManaged(1, many));
    await generations.save(withManaged(2, changed));
    expect(first!.id).toBe(0);
    expect(files(/^managed-/)).toHaveLength(1);
    const sizes = files(/^generation-/).map((file) => statSync(join(folder, file)).size);
    expect(Math.max(...sizes)).toBeLessThan(10_000);
    const { kept } = await new Generations(dataDir, logger).load();
    expect(kept?.rows.managedDomains).toEqual(changed);
  });

  test('are written to a new file if most have changed, and the old file is deleted when it is not needed', async () => {
    await generations.save(withManaged(1, many));
    const others = many.map(({ id }) => managed(id + 10_000));
    for (let version = 2; version <= 22; version++) await generations.save(withManaged(version, others));
    expect(files(/^managed-/)).toHaveLength(1);
    const { kept } = await new Generations(dataDir, logger).load();
    expect(kept?.rows.managedDomains[0]!.id).toBe(10_000);
  });

  test('are taken from the previous snapshot if their file is damaged', async () => {
    await generations.save(state(1));
    await generations.save(withManaged(2, many));
    truncateSync(join(folder, files(/^managed-/)[0]!), 100);
    const { kept } = await new Generations(dataDir, logger).load();
    expect(kept?.version).toBe(1);
  });
});
