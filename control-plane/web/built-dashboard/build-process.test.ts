import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { until } from '../../../test/support/parts/until.ts';
import { buildInProcess } from './build-process.ts';

let folder: string;
const logger = new MemoryLogger();
const { signal } = new AbortController();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-build-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function programOf(name: string, text: string): Promise<string> {
  const program = join(folder, name);
  await writeFile(program, text);
  return program;
}

describe('buildInProcess()', () => {
  test('runs the build program at the lowest priority', async () => {
    const out = join(folder, 'niceness');
    const program = await programOf(
      'nice.mjs',
      `import { writeFileSync } from 'node:fs'; import { getPriority } from 'node:os';
       const endMs = performance.now() + 60_000;
       const look = () => {
         if (getPriority() < 19 && performance.now() < endMs) setTimeout(look, 10);
         else writeFileSync(${JSON.stringify(out)}, String(getPriority()));
       };
       look();`,
    );
    await buildInProcess({ logger, stopped: signal, program });
    expect(await readFile(out, 'utf8')).toBe('19');
  });

  test('fails with the last output of a program that fails', async () => {
    const program = await programOf(
      'fail.mjs',
      `process.stderr.write('x'.repeat(100_000) + 'no space left', () => process.exit(1));`,
    );
    const error = await buildInProcess({ logger, stopped: signal, program }).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as Error).message).toMatch(/^x{1,2000}no space left$/);
  });

  test('fails if the program is missing', async () => {
    const program = join(folder, 'none.mjs');
    await expect(buildInProcess({ logger, stopped: signal, program })).rejects.toThrow('none.mjs');
  });

  test('kills a program that hangs when it is stopped', async () => {
    const begun = join(folder, 'begun');
    const program = await programOf(
      'hang.mjs',
      `import { writeFileSync } from 'node:fs'; process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
       writeFileSync(${JSON.stringify(begun)}, String(process.pid));`,
    );
    const stopping = new AbortController();
    const built = buildInProcess({ logger, stopped: stopping.signal, program });
    await until('the program to begin', () => existsSync(begun));
    stopping.abort();
    await expect(built).rejects.toThrow('aborted');
  });
});
