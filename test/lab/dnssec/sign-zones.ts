/**
 * Signs zone files with the standard tools: dnssec-keygen, dnssec-signzone, dnssec-dsfromkey of BIND.
 *
 * @needs bind9-utils ldnsutils
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram, requireProgram } from '../../support/parts/programs.ts';
import { COMMON_RECORDS, type LabZone } from './zones.ts';

/** A zone in a file. */
export interface ZoneFile {
  /** Name of the zone with a trailing dot. */
  readonly zone: string;
  readonly path: string;
}

/** Result of signing. */
export interface SignedZones {
  readonly files: readonly ZoneFile[];
  /** DNSKEY records of the root, to be trusted. */
  readonly rootKeys: string;
}

/** dnssec-signzone rejects more iterations; ldns-signzone accepts them. */
const MAX_ITERATIONS = 150;

/** Whether the packages with the lab's tools are installed (bind9-utils, ldnsutils). */
export function hasSigningTools(): boolean {
  return ['dnssec-keygen', 'dnssec-signzone', 'dnssec-dsfromkey', 'ldns-signzone'].every(
    (name) => findProgram(name) !== null,
  );
}

/** Signs the zones into `folder`, children first, because parents need their DS records. */
export function signZones(zones: readonly LabZone[], folder: string): SignedZones {
  mkdirSync(folder, { recursive: true });
  const delegations = new Map<string, string>();
  const files: ZoneFile[] = [];
  let rootKeys = '';
  const byDepth = [...zones].sort((a, b) => depth(b) - depth(a));
  for (const zone of byDepth) {
    const made = makeZone(zone, delegations.get(zone.name) ?? '', folder);
    files.push({ zone: `${zone.name}.`, path: made.path });
    if (zone.name === '') rootKeys = made.keyRecords;
    else {
      const above = parentOf(zone, zones);
      const delegation = `${zone.name}. NS ns.${zone.name}.\nns.${zone.name}. A 127.0.0.1\n${made.ds.join('\n')}\n`;
      delegations.set(above, (delegations.get(above) ?? '') + delegation);
    }
  }
  return { files, rootKeys };
}

function depth({ name }: LabZone): number {
  return name === '' ? 0 : name.split('.').length;
}

function parentOf({ name }: LabZone, zones: readonly LabZone[]): string {
  const above = zones.filter((it) => it.name !== name && (it.name === '' || name.endsWith(`.${it.name}`)));
  return above.reduce((a, b) => (b.name.length > a.name.length ? b : a)).name;
}

interface MadeZone {
  readonly path: string;
  readonly keyRecords: string;
  readonly ds: readonly string[];
}

function makeZone(zone: LabZone, delegations: string, folder: string): MadeZone {
  const { name, algorithm = 'ECDSAP256SHA256' } = zone;
  const origin = `${name}.`;
  const ns = name === '' ? 'ns.' : `ns.${origin}`;
  const head = `$ORIGIN ${origin}\n$TTL 300\n@ SOA ${ns} root.${ns} 1 3600 600 86400 300\n@ NS ${ns}\n`;
  const own = name === '' ? 'ns. A 127.0.0.1\n' : COMMON_RECORDS;
  const plain = `${head}${own}${zone.records ?? ''}${delegations}`;
  const path = join(folder, name === '' ? 'root' : name);
  if (algorithm === null) {
    writeFileSync(path, plain);
    // The DS of a zone without keys refers to a key that does not exist.
    return { path, keyRecords: '', ds: zone.ds === 'none' ? [] : [`${origin} DS 1 13 2 ${'AB'.repeat(32)}`] };
  }
  const key = makeKey(origin, algorithm, folder);
  const keyRecords = readFileSync(`${key}.key`, 'utf8').replaceAll(/^;.*\n/gm, '');
  writeFileSync(`${path}.unsigned`, plain + keyRecords + (zone.moreKeys?.(keyRecords) ?? ''));
  sign(zone, origin, key, path);
  const lines = readFileSync(`${path}.signed`, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith(';'));
  writeFileSync(path, `${(zone.edit?.(lines) ?? lines).join('\n')}\n`);
  return { path, keyRecords, ds: name === '' ? [] : dsLines(zone, key) };
}

function makeKey(origin: string, algorithm: string, folder: string): string {
  const size = algorithm.includes('RSA') ? ['-b', '2048'] : [];
  const args = ['-q', '-K', folder, '-a', algorithm, ...size, '-f', 'KSK', origin];
  return join(folder, run('dnssec-keygen', args).trim());
}

function sign({ nsec3, validity }: LabZone, origin: string, key: string, path: string): void {
  const { iterations = 0, optOut = false, salt = '-' } = nsec3 ?? {};
  if (iterations > MAX_ITERATIONS) {
    const chain = ['-n', '-t', String(iterations), '-f', `${path}.signed`, '-o', origin];
    run('ldns-signzone', [...chain, `${path}.unsigned`, key]);
    return;
  }
  const denial = nsec3 === undefined ? [] : ['-3', salt, '-H', String(iterations), ...(optOut ? ['-A'] : [])];
  const [start, end] = validity ?? ['now-86400', 'now+2592000'];
  const times = ['-s', start, '-e', end];
  const out = ['-O', 'full', '-f', `${path}.signed`, '-d', dirname(path)];
  // -z: one key signs all records; -P: no verification, because the lab needs invalid zones.
  run('dnssec-signzone', [
    '-q',
    '-z',
    '-P',
    ...denial,
    ...times,
    ...out,
    '-o',
    origin,
    `${path}.unsigned`,
    key,
  ]);
}

function dsLines({ ds = 'sha256', digests = ['SHA-256'] }: LabZone, key: string): string[] {
  if (ds === 'none') return [];
  const named = { sha256: 'SHA-256', sha1: 'SHA-1', sha384: 'SHA-384' };
  const wanted = typeof ds === 'string' ? [named[ds]] : digests;
  const lines = wanted.map((digest) => run('dnssec-dsfromkey', ['-a', digest, `${key}.key`]).trim());
  const plain = lines.map((line) => line.replaceAll(/\s+/g, ' '));
  return typeof ds === 'string' ? plain : ds(plain);
}

function run(name: string, args: readonly string[]): string {
  return execFileSync(requireProgram(name), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
