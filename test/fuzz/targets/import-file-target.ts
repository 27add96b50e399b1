/**
 * Uploads for an import, in every format: each results in a plan, or in the one type of error whose text is shown to
 * users.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImportFault } from '../../../control-plane/transfer/importers/files/import-fault.ts';
import { makePlan } from '../../../control-plane/transfer/importers/make-plan.ts';
import { IMPORT_FORMATS } from '../../../shared/api/imports-api.ts';
import { sqliteOf, tarOf, zipOf } from '../../support/parts/made-archives.ts';
import * as adguard from '../../support/weir/adguard-exports.ts';
import * as blocky from '../../support/weir/blocky-exports.ts';
import * as dnsmasq from '../../support/weir/dnsmasq-exports.ts';
import { CONTROLD, NEXTDNS } from '../../support/weir/profile-exports.ts';
import { octets } from '../../support/dns/built-messages.ts';
import { hold, InputReader } from '../target.ts';
import type { Target } from '../target.ts';

const FORMATS = ['auto', ...IMPORT_FORMATS] as const;
/** In memory if the machine has a file system in memory, because a run spends most of its time on files. */
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'weir-fuzz-'));
const work = join(folder, 'work');
mkdirSync(work);
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

async function run(input: Uint8Array): Promise<void> {
  const reader = new InputReader(input);
  const format = reader.of(FORMATS);
  const path = join(folder, 'upload');
  writeFileSync(path, reader.rest());
  try {
    const plan = await makePlan({ path, folder: work, format });
    hold(
      plan.items.every(({ kind }) => kind.length > 0),
      'an item has no kind',
    );
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
    hold(
      error.message !== '' && error.message.length < 2000,
      'the message of the fault is empty or too long',
    );
  } finally {
    for (const name of readdirSync(work)) rmSync(join(work, name), { recursive: true });
  }
}

const of = (format: (typeof FORMATS)[number], content: Uint8Array | string): Uint8Array =>
  octets([FORMATS.indexOf(format)], Buffer.from(content));

/** Seeds: files of each format, plain and packed; small, so that mutations affect bytes that are parsed. */
export const target: Target = {
  maxLength: 8000,
  isSlow: true,
  seeds: () => [
    of('adguard_home', adguard.TANGLED),
    of('adguard_home', adguard.SCHEMA_12),
    of('adguard_home', adguard.SCHEMA_20),
    of('blocky', blocky.OLD_KEYS),
    of('hosts', dnsmasq.HOSTS),
    of(
      'dnsmasq',
      'address=/ads.example/#\nserver=/corp.example/192.0.2.1#53\ndhcp-host=02:00:5e:00:00:01,192.0.2.9,pc\ncname=a.test,b.test\n',
    ),
    of('nextdns', NEXTDNS),
    of('controld', CONTROLD),
    of(
      'auto',
      zipOf({ 'pihole.toml': '[dns]\nupstreams = ["192.0.2.1"]\n', 'etc/hosts': '192.0.2.5 nas\n' }),
    ),
    of('auto', tarOf({ 'dnsmasq.d/a.conf': 'address=/ads.example/0.0.0.0\n' })),
    of('pihole', sqliteOf('CREATE TABLE adlist (id INTEGER, address TEXT, enabled BOOLEAN)')),
  ],
  dictionary: [
    'PK\u0003\u0004',
    'ustar',
    'SQLite format 3\0',
    '\n',
    '- ',
    ': ',
    '&a',
    '*a',
    '<<',
    '"',
    '{',
    '[',
    'address=/',
    'https://',
    '#',
  ],
  run,
};
