/** Priorities of the threads on a busy core, as the kernel reports them. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serversOn } from '../../../control-plane/storage/db/postgres/postgres-process.ts';
import { nicerBy } from '../../support/parts/niceness.ts';
import { Weir } from '../../support/weir/weir-process.ts';

let weir: Weir;
beforeAll(async () => {
  weir = await Weir.start();
});
afterAll(() => weir.stop());

/** Niceness of each thread of the process, by name. */
function nicenessByName(): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  const tasks = `/proc/${String(weir.pid)}/task`;
  for (const id of readdirSync(tasks)) {
    const stat = readFileSync(`${tasks}/${id}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const name = stat.slice(stat.indexOf('(') + 1, end).replace(/-\d+$/, '');
    const nice = Number(stat.slice(end + 2).split(' ')[16]);
    found.set(name, (found.get(name) ?? new Set()).add(nice));
  }
  return found;
}

describe('weir on a busy core', () => {
  test('answer threads have the highest priority, then the control plane, then file access', () => {
    const niceness = nicenessByName();
    expect(niceness.get('dns-answer')).toEqual(new Set([nicerBy(0)]));
    expect(niceness.get('dns-resolve')).toEqual(new Set([nicerBy(0)]));
    expect(niceness.get('node-MainThread')).toEqual(new Set([nicerBy(3)]));
    expect(niceness.get('libuv-worker')).toEqual(new Set([nicerBy(12)]));
  });

  test('the database has a lower priority than the control plane, even for sessions opened later', async () => {
    await (await weir.api()).expect(200, 'GET', '/queries');
    const levels = serversOn(join(weir.tempDir.dataDir, 'postgres', 'cluster')).map((pid) =>
      getPriority(pid),
    );
    expect(new Set(levels)).toEqual(new Set([nicerBy(4), nicerBy(12)]));
  });
});
