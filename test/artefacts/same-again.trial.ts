/**
 * Builds are reproducible: makes a second build from a clone in another folder, in another time zone and with another
 * umask, and compares it with the build in data/artefacts. Needs root and mmdebstrap, and takes as long as both builds.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { list } from 'tar';
import { newest, run } from './trial-parts.ts';

interface Descriptor {
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
}

interface Manifest {
  readonly manifests: readonly Descriptor[];
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const workDir = mkdtempSync(join(tmpdir(), 'weir-again-'));
const clone = join(workDir, 'elsewhere');

/** Runs the npm script with this name in the clone. */
function build(...args: readonly string[]): void {
  const command = 'umask 077; exec "$@"';
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', command, 'sh', join(clone, 'deploy/build', args[0]!), ...args.slice(1)],
    {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'Asia/Kathmandu', LC_ALL: 'C' },
    },
  );
  if (status !== 0) throw new Error(stderr);
}

/** Contents of a tar archive: for each file a line with type, permissions, owner, time and content. */
function contentOf(tar: string): Map<string, string> {
  const found = new Map<string, string>();
  list({
    file: tar,
    sync: true,
    onReadEntry: (entry) => {
      const { path, type, mode, uid, gid, mtime, linkpath } = entry;
      const hash = createHash('sha256');
      entry.on('data', (chunk: Buffer) => hash.update(chunk));
      entry.on('end', () =>
        found.set(
          path,
          [type, mode?.toString(8), uid, gid, mtime?.toISOString(), linkpath, hash.digest('hex')].join(' '),
        ),
      );
    },
  });
  return found;
}

/** The paths whose entries differ between the archives, with both entries. */
function differences(one: string, other: string): string[] {
  const [was, is] = [contentOf(one), contentOf(other)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((path) => was.get(path) !== is.get(path))
    .map((path) => `${path}: ${was.get(path) ?? 'away'}, then ${is.get(path) ?? 'away'}`);
}

beforeAll(() => {
  run('git', 'clone', '--quiet', ROOT, clone);
  run(
    'git',
    '-C',
    clone,
    'checkout',
    '--quiet',
    '--detach',
    run('git', '-C', ROOT, 'rev-parse', 'HEAD').trim(),
  );
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
});
afterAll(() => rmSync(workDir, { recursive: true, force: true }));

describe('a second build of the same commit', () => {
  test.each(['amd64', 'arm64'])('produces the same package for %s', (arch) => {
    const { file } = newest(new RegExp(`^weir_(.+)_${arch}\\.deb$`));
    build('deb', arch);
    const again = join(clone, 'data/artefacts', basename(file));
    for (const part of ['ctrl-tarfile', 'fsys-tarfile']) {
      for (const [name, deb] of Object.entries({ one: file, other: again }))
        run('sh', '-c', `dpkg-deb --${part} "$1" >"$2"`, 'sh', deb, join(workDir, `${name}.tar`));
      expect(differences(join(workDir, 'one.tar'), join(workDir, 'other.tar'))).toEqual([]);
    }
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
  });

  test('produces the same image: index, manifests, configuration and layers', () => {
    const { file } = newest(/^weir-(.+)\.oci\.tar$/);
    build('image');
    const [one, other] = [file, join(clone, 'data/artefacts', basename(file))].map((image, i) => {
      const layout = join(workDir, `layout${String(i)}`);
      mkdirSync(layout);
      run('tar', '-xf', image, '-C', layout);
      return layout;
    });
    const blob = (layout: string, { digest }: Descriptor): string =>
      join(layout, 'blobs', ...digest.split(':'));
    const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
    const images = (layout: string): Manifest[] => {
      const [index] = (json(join(layout, 'index.json')) as Manifest).manifests;
      return (json(blob(layout, index!)) as Manifest).manifests.map(
        (manifest) => json(blob(layout, manifest)) as Manifest,
      );
    };
    const others = images(other!);
    for (const [i, { config, layers }] of images(one!).entries()) {
      for (const [j, layer] of layers.entries())
        expect(differences(blob(one!, layer), blob(other!, others[i]!.layers[j]!))).toEqual([]);
      expect(json(blob(other!, others[i]!.config))).toEqual(json(blob(one!, config)));
    }
    expect(readFileSync(join(other!, 'index.json'), 'utf8')).toBe(
      readFileSync(join(one!, 'index.json'), 'utf8'),
    );
  });
});
