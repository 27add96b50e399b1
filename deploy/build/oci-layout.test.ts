import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly manifests: readonly Descriptor[];
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

interface Config {
  readonly architecture: string;
  readonly config: { readonly User: string };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

const PROGRAM = join(import.meta.dirname, 'oci-layout.ts');
const LAYERS = ['base.tar', 'release.tar', 'own.tar'];

describe('oci-layout.ts, which writes image files,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-layout-'));
  const layout = join(folder, 'layout');
  const write = (target: string): string => {
    const env = { ...process.env, SOURCE_DATE_EPOCH: '1700000000' };
    const folders = ['amd64', 'arm64'].map((arch) => join(folder, arch));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', PROGRAM, target, '1.2.3+4', '1.2.3-4', 'c0ffee', ...folders],
      { env, encoding: 'utf8' },
    );
    expect([stderr, status]).toEqual(['', 0]);
    return stdout;
  };
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const bytes = readFileSync(join(layout, 'blobs', ...digest.split(':')));
    expect(bytes).toHaveLength(size);
    return bytes;
  };
  const json = (descriptor: Descriptor): unknown => JSON.parse(blob(descriptor).toString());
  const top = (): Manifest => JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as Manifest;

  beforeAll(() => {
    for (const arch of ['amd64', 'arm64']) {
      mkdirSync(join(folder, arch));
      for (const name of LAYERS) writeFileSync(join(folder, arch, name), `${name} of ${arch}`);
    }
    write(layout);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('names each image and the index of both images, so that other programs find them', () => {
    const names = top().manifests.map(
      ({ annotations }) => annotations?.['org.opencontainers.image.ref.name'],
    );
    expect(names).toEqual(['1.2.3-4', '1.2.3-4-amd64', '1.2.3-4-arm64']);
    const [index] = top().manifests;
    expect((json(index!) as Manifest).manifests.map(({ platform }) => platform?.architecture)).toEqual([
      'amd64',
      'arm64',
    ]);
  });

  test('describes the layers of each architecture by their hashes, compressed and uncompressed', () => {
    for (const descriptor of top().manifests.slice(1)) {
      const { config, layers } = json(descriptor) as Manifest;
      const { architecture, rootfs, config: run } = json(config) as Config;
      const texts = layers.map((layer) => gunzipSync(blob(layer)).toString());
      expect(texts).toEqual(LAYERS.map((name) => `${name} of ${architecture}`));
      const hashes = texts.map((text) => `sha256:${createHash('sha256').update(text).digest('hex')}`);
      expect(rootfs.diff_ids).toEqual(hashes);
      expect(run.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    }
  });

  test('names each blob by its hash, and writes the same blobs for the same input', () => {
    const blobs = readdirSync(join(layout, 'blobs', 'sha256'));
    for (const name of blobs) {
      const bytes = readFileSync(join(layout, 'blobs', 'sha256', name));
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(name);
    }
    const again = join(folder, 'again');
    expect(write(again)).toContain(top().manifests[0]!.digest);
    expect(readdirSync(join(again, 'blobs', 'sha256'))).toEqual(blobs);
  });
});
