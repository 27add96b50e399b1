/** Tests of standard input: of processes that read it, and of processes that end without reading it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { giveInput } from './standard-input.ts';

test('giveInput() writes everything and closes the pipe', async () => {
  const child = spawn('cat');
  const said = text(child.stdout);
  await giveInput(child.stdin, 'x'.repeat(1_000_000));
  expect((await said).length).toBe(1_000_000);
});

test('giveInput() succeeds if a process ends before it has read everything', async () => {
  const child = spawn('/bin/sh', ['-c', 'exec <&-; echo closed; exit 3']);
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  await giveInput(child.stdin, 'x'.repeat(1_000_000));
  expect(await closed).toEqual([3, null]);
});

test('giveInput() succeeds if a process has already ended', async () => {
  const child = spawn('true');
  await once(child, 'close');
  await giveInput(child.stdin, 'x');
});

test('giveInput() fails with any other error', async () => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken')) });
  await expect(giveInput(broken, 'x')).rejects.toThrow('broken');
});
