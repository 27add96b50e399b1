import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { checkGate, spread } from './gate.ts';
import { probe } from './servers/answer-probe.ts';

const PORT = 5696;

describe('checkGate(), the check of a server before a measurement,', () => {
  let upstream: ChildProcess;

  beforeAll(async () => {
    upstream = spawn(
      process.execPath,
      [join(import.meta.dirname, 'servers', 'node-upstream.ts'), String(PORT)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(upstream.stdout!, 'data');
  });

  afterAll(async () => {
    upstream.kill();
    await once(upstream, 'exit');
  });

  test('accepts a server that answers unlisted names', async () => {
    await expect(checkGate(PORT, [], ['www.example.com', 'a.example.net'])).resolves.toBeUndefined();
  });

  test('rejects a server that blocks nothing, and reports the listed name', async () => {
    await expect(checkGate(PORT, ['ads.example.org'], ['www.example.com'])).rejects.toThrow(
      'ads.example.org is listed but allowed',
    );
  });

  test('probe() reports a missing answer if no server listens', async () => {
    expect(await probe(PORT + 1, 'www.example.com')).toBe('no answer');
  });
});

describe('spread(), a selection of items,', () => {
  test('keeps the first and the last item, and evenly spaced items between them', () => {
    expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)).toEqual([0, 4, 8]);
    expect(spread(['a', 'b'], 5)).toEqual(['a', 'b']);
  });
});
