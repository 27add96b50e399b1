import { beforeAll, describe, expect, test } from '@jest/globals';
import { MadeDist } from '../../../test/support/parts/made-dist.ts';
import { parseManifest } from './build-manifest.ts';
import type { BuildManifest } from './build-manifest.ts';

let manifest: BuildManifest;

beforeAll(async () => {
  await using dist = await MadeDist.make();
  manifest = await dist.build();
});

describe('parseManifest(), which reads the list of built files,', () => {
  test('reads the manifest that a build writes', () => {
    expect(parseManifest(JSON.stringify(manifest))).toEqual(manifest);
  });

  test.each<[string, (manifest: BuildManifest) => unknown]>([
    ['nothing', () => null],
    ['a list', () => []],
    ['a text', () => 'manifest'],
    ['another format', (manifest) => ({ ...manifest, format: 1 })],
    ['a folder above', (manifest) => ({ ...manifest, folder: '..' })],
    ['a folder elsewhere', (manifest) => ({ ...manifest, folder: '/etc' })],
    ['a folder that is a number', (manifest) => ({ ...manifest, folder: 7 })],
    ['no sources', (manifest) => ({ ...manifest, sources: undefined })],
    ['a hash of another length', (manifest) => ({ ...manifest, sources: { hash: 'ab', shared: [] } })],
    ['sources outside of shared/', (manifest) => withShared(manifest, 'shared/../../etc/passwd.ts')],
    ['sources that are not code', (manifest) => withShared(manifest, '/etc/passwd')],
    ['no files', (manifest) => ({ ...manifest, files: [] })],
    ['files without a document', (manifest) => ({ ...manifest, files: manifest.files.slice(0, 1) })],
    ['files that are not a list', (manifest) => ({ ...manifest, files: { length: 1 } })],
    ['a file of null', (manifest) => ({ ...manifest, files: [...manifest.files, null] })],
    ['a file twice', (manifest) => ({ ...manifest, files: [...manifest.files, manifest.files[0]] })],
    ['a path above', (manifest) => withFile(manifest, { path: '../weir.toml' })],
    ['a path above from within', (manifest) => withFile(manifest, { path: 'assets/../../weir.toml' })],
    ['an absolute path', (manifest) => withFile(manifest, { path: '/etc/passwd' })],
    ['a path with NUL', (manifest) => withFile(manifest, { path: 'a\0.js' })],
    ['a path of a second line', (manifest) => withFile(manifest, { path: 'a.js\n' })],
    ['a hidden file', (manifest) => withFile(manifest, { path: '.env' })],
    ['a type that adds a field', (manifest) => withFile(manifest, { type: 'text/css\r\nSet-Cookie: a=b' })],
    ['no form', (manifest) => withFile(manifest, { forms: {} })],
    ['an unknown form', (manifest) => withFile(manifest, { forms: formsWith('zstd', 1) })],
    ['a form of the prototype', (manifest) => withFile(manifest, { forms: formsWith('toString', 1) })],
    ['a size below zero', (manifest) => withFile(manifest, { forms: formsWith('br', -1) })],
    ['a size that is not a number', (manifest) => withFile(manifest, { forms: formsWith('br', '1') })],
    ['a size beyond any dashboard', (manifest) => withFile(manifest, { forms: formsWith('br', 1e9) })],
    ['no pages', (manifest) => ({ ...manifest, pages: null })],
    ['a page whose files are not a list', (manifest) => ({ ...manifest, pages: { queries: 'a.js' } })],
    [
      'a page with a file that the build does not have',
      (manifest) => ({ ...manifest, pages: { queries: ['x'] } }),
    ],
  ])('rejects %s', (_, change) => {
    const lying = JSON.stringify(change(manifest));
    expect(() => parseManifest(lying)).toThrow('is not a manifest');
  });

  test('rejects an incomplete manifest', () => {
    const text = JSON.stringify(manifest);
    expect(() => parseManifest(text.slice(0, text.length / 2))).toThrow();
  });
});

function withShared(manifest: BuildManifest, path: string): unknown {
  return { ...manifest, sources: { ...manifest.sources, shared: [path] } };
}

function withFile(manifest: BuildManifest, file: object): unknown {
  return {
    ...manifest,
    files: [...manifest.files, { path: 'x.js', type: 'text/css', forms: formsWith('br', 1), ...file }],
  };
}

function formsWith(form: string, bytes: unknown): object {
  const sha256 = 'b'.repeat(64);
  return { identity: { bytes: 1, sha256 }, [form]: { bytes, sha256 } };
}
