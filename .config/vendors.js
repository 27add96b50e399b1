// Generates control-plane/clients/vendors/vendors.bin, the vendors by MAC, from the npm package oui-data, which
// contains the IEEE's registry (MA-L, MA-M, MA-S) as JSON. Usage: node .config/vendors.js [VERSION] (npm run artefacts
// -- vendors): by default the newest version. Commit the changed file.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packVendors } from '../control-plane/clients/vendors/pack-vendors.ts';

const FILE = join(import.meta.dirname, '../control-plane/clients/vendors/vendors.bin');

const folder = mkdtempSync(join(tmpdir(), 'weir-vendors-'));
try {
  const version = process.argv[2] ?? 'latest';
  const packed = execFileSync('npm', ['pack', '--json', `oui-data@${version}`], { cwd: folder });
  const [{ filename, integrity, id }] = JSON.parse(packed);
  execFileSync('tar', ['-xzf', filename, 'package/index.json'], { cwd: folder });
  const registry = JSON.parse(readFileSync(join(folder, 'package/index.json'), 'utf8'));
  const bytes = packVendors(registry, { source: id, integrity });
  writeFileSync(FILE, bytes);
  process.stdout.write(`${id}: ${Object.keys(registry).length} prefixes, ${bytes.length} bytes\n`);
} finally {
  rmSync(folder, { recursive: true });
}
