/** Damaged and foreign files: each results in a plan or a refusal, never in another error. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { octets } from '../../../test/support/dns/built-messages.ts';
import fc from '../../../test/support/parts/fast-check.ts';
import { sqliteOf, tarOf, zipOf } from '../../../test/support/parts/made-archives.ts';
import * as adguard from '../../../test/support/weir/adguard-exports.ts';
import * as blocky from '../../../test/support/weir/blocky-exports.ts';
import * as dnsmasq from '../../../test/support/weir/dnsmasq-exports.ts';
import * as pihole from '../../../test/support/weir/pihole-exports.ts';
import { CONTROLD, NEXTDNS } from '../../../test/support/weir/profile-exports.ts';
import * as technitium from '../../../test/support/weir/technitium-exports.ts';
import { namesFile } from '../../../test/support/weir/technitium-exports.ts';
import { IMPORT_FORMATS, type ImportFormat } from '../../../shared/api/imports-api.ts';
import { ImportFault } from './files/import-fault.ts';
import { makePlan } from './make-plan.ts';
import type { ImportPlan } from './plan/import-plan.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-plan-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Number of items, or why there is no plan; other errors are thrown. */
async function outcomeOf(file: Uint8Array, format: ImportFormat | 'auto' = 'auto'): Promise<number | string> {
  const plan = await planOrFault(file, format);
  return typeof plan === 'string' ? plan : plan.items.length;
}

/** All texts of a plan or a fault that users see. */
async function shownOf(file: Uint8Array, format: ImportFormat): Promise<string> {
  const plan = await planOrFault(file, format);
  return typeof plan === 'string' ? plan : JSON.stringify([plan.items, plan.keys]);
}

async function planOrFault(file: Uint8Array, format: ImportFormat | 'auto'): Promise<ImportPlan | string> {
  const work = await mkdtemp(join(folder, 'work-'));
  const path = join(work, 'upload');
  await writeFile(path, file);
  try {
    return await makePlan({ path, folder: work, format });
  } catch (error) {
    if (error instanceof ImportFault) return error.message;
    throw error;
  } finally {
    await rm(work, { recursive: true });
  }
}

const TEXTS = [adguard.TANGLED, adguard.SCHEMA_12, blocky.OLD_KEYS, dnsmasq.HOSTS, NEXTDNS, CONTROLD].map(
  (text) => Buffer.from(text),
);
const EXPORTS: readonly Buffer[] = [
  ...[pihole.version6(), pihole.version5(), pihole.liveGravity()],
  ...[adguard.schema34(), blocky.folder(), dnsmasq.folder(), technitium.version15(), technitium.version13()],
  ...TEXTS,
];

/** Bytes before the content of a gzip file without compression. */
const STORED = 15;

/** Content with the magic bytes of a tar at an offset. */
function marked(at: number): Buffer {
  const content = Buffer.alloc(2000);
  content.write('ustar', at, 'latin1');
  return content;
}

/** Files with secrets, of Pi-hole and of other programs. */
const SECRET = /hunter2/i;
const SECRET_FILES = [
  '[dns]\nupstreams = ["192.0.2.1"]\n[webserver.api]\n  pwhash = "$BALLOON-SHA256$hunter2"\n  totp_secret = "hunter2"\n',
  'users:\n  - name: me\n    password: $2a$10$hunter2\ntls:\n  private_key: |\n    -----BEGIN PRIVATE KEY-----\n    hunter2AAAA\n',
  'WEBPASSWORD=hunter2\nserver=https://me:hunter2@dns.example/\ntoken: hunter2\n',
  '{"apiKey": "hunter2", "password": "hunter2" x}',
  '192.0.2.1 nas\n192.0.2.2 tv\nhunter2 password\npassword hunter2\n',
  '-----BEGIN PRIVATE KEY-----\nhunter2AAAABBBB\n-----END PRIVATE KEY-----\n',
];

describe('makePlan()', () => {
  test.each(IMPORT_FORMATS)('shows no secrets of a file in %s', async (format) => {
    for (const file of SECRET_FILES) expect(await shownOf(Buffer.from(file), format)).not.toMatch(SECRET);
  });

  test('recognizes the program of each export', async () => {
    const counts = await Promise.all(EXPORTS.map((file) => outcomeOf(file)));
    expect(counts.every((count) => typeof count === 'number' && count > 2)).toBe(true);
    expect(await outcomeOf(Buffer.from('hello'))).toContain('does not recognise which program');
  });

  test.each(IMPORT_FORMATS.filter((format) => !/^(?:dnsmasq|hosts|blocky)$/.test(format)))(
    'refuses a file of another program as a file of %s, whatever its content',
    async (format) => {
      expect(await outcomeOf(Buffer.from('some text\n'), format)).toEqual(expect.any(String));
      const zip = zipOf({ 'readme.txt': 'some text\n' });
      expect(await outcomeOf(zip, format)).toEqual(expect.any(String));
    },
  );

  test('names the option for the format in its error if it does not recognize a file', async () => {
    expect(await outcomeOf(Buffer.from('hello'))).toContain('name it with --format');
  });

  test('refuses a damaged export, or reads its undamaged part', async () => {
    const damage = fc.record({
      which: fc.nat(EXPORTS.length - 1),
      bytes: fc.array(fc.tuple(fc.nat(40_000), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      cutAt: fc.option(fc.nat(40_000)),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ which, bytes, cutAt }) => {
        const file = Buffer.from(EXPORTS[which]!);
        for (const [at, byte] of bytes) file[at % file.length] = byte;
        const length = cutAt === null ? file.length : cutAt % file.length;
        await expect(outcomeOf(file.subarray(0, length))).resolves.toBeDefined();
      }),
      { numRuns: 150 },
    );
  });

  test('refuses or reads generated bytes in every requested format', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 2000 }),
        fc.constantFrom(...IMPORT_FORMATS),
        async (file, format) => {
          await expect(outcomeOf(file, format)).resolves.toBeDefined();
        },
      ),
      { numRuns: 100 },
    );
  });

  test.each([
    [
      'a view',
      'CREATE VIEW adlist AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i AS id FROM n',
    ],
    ['a generated column', 'CREATE TABLE adlist (id INTEGER, address TEXT AS (hex(zeroblob(100000000))))'],
    ['a virtual table', 'CREATE VIRTUAL TABLE adlist USING fts5(id, address)'],
  ])('refuses a database with %s in place of a table', async (_what, statement) => {
    expect(await outcomeOf(sqliteOf(statement))).toBe('gravity.db: adlist is not an ordinary table');
  });

  test.each<[string, Uint8Array | string, string]>([
    [
      'a path that leaves the folder',
      zipOf({ '../pihole.toml': '' }),
      'the zip file is damaged: invalid relative path',
    ],
    ['an absolute path', zipOf({ '/etc/pihole.toml': '' }), 'the zip file is damaged: absolute path'],
    [
      'a symbolic link in a zip file',
      zipOf({ 'pihole.toml': '/etc/passwd' }, { mode: 0o120_777 }),
      'is a link or a device',
    ],
    [
      'a zip file with a false size',
      zipOf({ 'pihole.toml': 'a'.repeat(1000) }, { claimedBytes: 10 }),
      'the zip file is damaged',
    ],
    [
      'a tar file that is compressed twice',
      gzipSync(gzipSync(marked(0x101 - STORED), { level: 0 })),
      'does not recognise which program',
    ],
    [
      'a tar file that is compressed with zstd',
      octets([0x28, 0xb5, 0x2f, 0xfd], marked(0x101 - 4)),
      'does not recognise which program',
    ],
    ['a symbolic link in a tar file', tarOf({ 'adlist.json': '' }, '2'), 'is a link or a device'],
    [
      'a tar file with a path that leaves the folder',
      tarOf({ '../../adlist.json': '[]' }),
      'is outside of it',
    ],
    [
      'a damaged database',
      Buffer.concat([pihole.liveGravity().subarray(0, 100), Buffer.alloc(9000, 7)]),
      'is damaged',
    ],
    ['bad JSON', tarOf({ 'adlist.json': '{' }), 'adlist.json is not JSON'],
    ['JSON of another schema', tarOf({ 'adlist.json': '[1]' }), 'adlist.json is not a list of rows'],
    ['bad TOML', zipOf({ 'pihole.toml': 'a = [' }), 'pihole.toml, line'],
    ['no settings', zipOf({ 'pihole.toml': '' }), 'neither lists nor domains'],
    [
      'YAML whose aliases multiply its size',
      `schema_version: 34\na: &a 1\nb: [${'*a, '.repeat(200)}1]\n`,
      'too many aliases or levels',
    ],
    [
      'more records than one transaction can store',
      Array.from({ length: 20_001 }, (_, n) => `192.0.2.1 h${n}.example`).join('\n'),
      '20001 rows; the maximum for one import is 20000',
    ],
    ['a schema that is too old', 'schema_version: 9\n', 'AdGuardHome.yaml has schema 9'],
    [
      'a truncated file of Technitium',
      zipOf({ 'blocked.config': namesFile('BZ', ['a'], 9) }),
      'ends too early',
    ],
    [
      'a file of Technitium with a version that is too new',
      zipOf({ 'allowed.config': namesFile('AZ', [], 0, 7) }),
      'has version 7',
    ],
  ])('refuses %s', async (_what, file, reason) => {
    expect(await outcomeOf(Buffer.from(file))).toContain(reason);
  });

  test('refuses a database with too many rows, or with a value that is too long', async () => {
    const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= 200000)';
    const table = 'CREATE TABLE adlist (id INTEGER, address TEXT)';
    const many = sqliteOf(`${table}; INSERT INTO adlist ${numbers} SELECT i, 'a' FROM n`);
    const long = sqliteOf(`${table}; INSERT INTO adlist VALUES (1, hex(zeroblob(40000)))`);
    expect(await outcomeOf(many)).toContain('too many rows');
    expect(await outcomeOf(long)).toContain('too long');
  });
});
