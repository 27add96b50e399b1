/**
 * The Debian package for arm64, unpacked together with its dependencies from a Debian for arm64. The packages are not
 * configured, because this processor cannot run their scripts. Its Node runs on an emulated processor. Needs root,
 * lintian, mmdebstrap and qemu-user-static.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answersEmulated } from './emulated.ts';
import { newest, run } from './trial-parts.ts';

const { file: deb } = newest(/^weir_(.+)_arm64\.deb$/);
const RELEASE = '/usr/lib/weir/release';

describe('weir.deb for arm64', () => {
  const workDir = mkdtempSync(join(tmpdir(), 'weir-arm64-'));
  const root = join(workDir, 'root');

  beforeAll(() => {
    // apt resolves the dependencies of the package. mmdebstrap mounts the package's file in a mount namespace that ends
    // with the process.
    const mounts = '--hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount';
    const options = ['--quiet', '--variant=extract', '--architectures=arm64', mounts, `--include=${deb}`];
    run('unshare', '--mount', '--propagation', 'private', 'mmdebstrap', ...options, 'bookworm', root);
  });
  afterAll(() => rmSync(workDir, { recursive: true, force: true }));

  test('has no lintian finding without an override', () => {
    expect(run('lintian', '--profile=debian', '--fail-on=error,warning', deb)).toBe('');
  });

  test('contains only programs and libraries for arm64', () => {
    const kinds = run('find', join(root, RELEASE), '-type', 'f', '-exec', 'file', '--brief', '{}', '+')
      .split('\n')
      .filter((kind) => kind.startsWith('ELF'));
    expect(kinds.length).toBeGreaterThan(20);
    expect(kinds.filter((kind) => !kind.includes('ARM aarch64'))).toEqual([]);
  });

  test('answers on an emulated processor', () => answersEmulated(root, RELEASE));
});
