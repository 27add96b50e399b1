import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { makeTempDir } from '../../../test/support/weir/data-dir.ts';
import type { TempDir } from '../../../test/support/weir/data-dir.ts';
import { checkRelease } from './successor.ts';

const TIMEOUT_MS = 10_000;

let tempDir: TempDir;
beforeEach(() => {
  tempDir = makeTempDir();
  mkdirSync(join(tempDir.path, 'control-plane', 'cli'), { recursive: true });
});
afterEach(() => tempDir.remove());

/** Makes a release whose command runs this script. */
function makeRelease(script: string): void {
  writeFileSync(join(tempDir.path, 'control-plane', 'cli', 'weir'), `#!/bin/sh\n${script}\n`, {
    mode: 0o755,
  });
}

describe('checkRelease()', () => {
  test('accepts a configuration that the new release accepts', async () => {
    makeRelease('[ "$1 $2 $3" = "check-config --config /etc/weir.toml" ]');
    await checkRelease(tempDir.path, '/etc/weir.toml', TIMEOUT_MS);
  });

  test.each([
    [
      'and reports its faults, if it rejects the configuration',
      'echo "server.web_port: expected a number" >&2; exit 1',
      TIMEOUT_MS,
      'server.web_port',
    ],
    ['if it does not respond in time', 'exec sleep 1000', 200, 'no answer in 0.2 s'],
  ])('refuses a new release %s', async (_what, script, withinMs, reason) => {
    makeRelease(script);
    const refused = checkRelease(tempDir.path, null, withinMs);
    await expect(refused).rejects.toThrow(`the new release refuses to start: ${reason}`);
  });
});
