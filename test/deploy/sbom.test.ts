/** The software bill of materials of a production install: complete and reproducible. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly group?: string;
  readonly 'bom-ref': string;
  readonly licenses: readonly unknown[];
  readonly hashes?: readonly { readonly content: string }[];
  readonly components?: readonly Component[];
}

interface Bom {
  readonly bomFormat: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const ROOT = join(import.meta.dirname, '..', '..');
let folder = '';
let bom: Bom;
let text = '';
let licences = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-sbom-'));
  const made = spawnSync(process.execPath, [join(ROOT, '.config', 'sbom.js'), folder], { encoding: 'utf8' });
  expect(made.stderr).toBe('');
  expect(made.status).toBe(0);
  text = readFileSync(join(folder, 'weir.cdx.json'), 'utf8');
  bom = JSON.parse(text) as Bom;
  licences = readFileSync(join(folder, 'LICENSES.txt'), 'utf8');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run artefacts -- sbom', () => {
  test('reports no fault: every licence is allowed, and every binary is known', () => {
    expect(readFileSync(join(folder, 'REPORT.txt'), 'utf8')).toBe('nothing to report\n');
  });

  test('contains the package with the vendors of MAC addresses', () => {
    const vendors = readFileSync(join(ROOT, 'control-plane/clients/vendors/vendors.bin'));
    const { source } = JSON.parse(vendors.subarray(0, vendors.indexOf('\n')).toString()) as {
      source: string;
    };
    const data = bom.components.filter(({ type }) => type === 'data');
    expect(data.map(({ name, version }) => `${name}@${version}`)).toEqual([source]);
    expect(data[0]?.licenses).toHaveLength(1);
  });

  test('contains every production package of package-lock.json with its licence, and no other package', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; dev?: boolean }>;
    };
    const wanted = Object.entries(lock.packages)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
    const packages = bom.components.filter(({ type }) => type !== 'data');
    const listed = packages.map(({ name, version }) => `${name}@${version}`);
    expect(listed.toSorted()).toEqual([...new Set(wanted)].toSorted());
    for (const { name, version, licenses, hashes } of packages) {
      expect(licenses).toHaveLength(1);
      expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/u);
      expect(licences).toContain(` ${name} ${version}\n`);
    }
  });

  test('contains the binaries in packages: Node, PostgreSQL with its libraries, argon2, koffi', () => {
    const binaries = bom.components.flatMap(({ components = [] }) => components);
    const programs = new Set(binaries.map(({ group }) => group));
    for (const program of ['node', 'postgresql', 'openssl', 'phc-winner-argon2', 'koffi'])
      expect(programs).toContain(program);
    for (const { hashes } of binaries) expect(hashes?.[0]?.content).toMatch(/^[0-9a-f]{64}$/u);
  });

  test('connects every package to its dependencies, starting from Weir', () => {
    const refs = new Set(bom.components.map((component) => component['bom-ref']));
    const needed = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const visit = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      needed.get(ref)!.forEach(visit);
    };
    visit(bom.dependencies[0]!.ref);
    for (const ref of reached) if (ref !== bom.dependencies[0]!.ref) expect(refs).toContain(ref);
    expect(reached.size).toBeGreaterThan(100);
  });

  test('contains no data about the build machine or the location of packages', () => {
    // A short path, such as /src, may also be part of other paths, so only whole paths match.
    const paths = [ROOT, tmpdir()].map((path) => new RegExp(`(?<![\\w./-])${RegExp.escape(path)}\\b`));
    for (const word of [...paths, /:\/\/registry/, /localhost/, /timestamp/])
      for (const file of [text, licences]) expect(file).not.toMatch(word);
  });
});
