import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/** Jest gives tests a copy of `process`, so a test in this process would see no warnings. */
const program = (work: string): string => `
  import { createLogger } from '${join(import.meta.dirname, 'winston-logger.ts')}';
  import { logProcessFaults } from '${join(import.meta.dirname, 'process-faults.ts')}';
  logProcessFaults(createLogger({ level: 'info', format: 'json' }));
  ${work}`;

test.each([
  [
    'a warning of a library',
    `process.emitWarning('too many of them', 'DeprecationWarning', 'DEP0000')`,
    { level: 'warn', name: 'DeprecationWarning', code: 'DEP0000', reason: 'too many of them' },
    0,
  ],
  [
    'a warning in a thread',
    `const { Worker } = await import('node:worker_threads');
    new Worker("process.emitWarning('too many of them')", { eval: true });`,
    { level: 'warn', text: expect.stringMatching(/^\(node:\d+\) Warning: too many of them\n/) },
    0,
  ],
  [
    'the error of a crash',
    `setImmediate(() => { throw new Error('of a bug') })`,
    { level: 'error', error: expect.stringMatching(/^Error: of a bug\n +at /) },
    1,
  ],
  [
    'a promise that is rejected and not handled',
    `void Promise.reject(new Error('of a bug'))`,
    { level: 'error', error: expect.stringMatching(/^Error: of a bug\n +at /) },
    1,
  ],
])('logProcessFaults() logs %s in the configured log format', (_what, work, line, exitStatus) => {
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program(work)], {
    encoding: 'utf8',
  });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((text) => JSON.parse(text) as unknown)).toEqual([expect.objectContaining(line)]);
  expect(status).toBe(exitStatus);
});
