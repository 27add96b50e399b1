/**
 * Stores keys of trust points that were found or revoked since the release of Weir, or since the file of the
 * administrator was written. They are in a file in the data directory, so that they do not depend on the database: one
 * key per line, then a checksum. If the file is damaged, it is ignored and the configured anchors are used.
 */
import { reasonOf } from '../../../shared/errors.ts';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { writeDurably } from '../../host/files/durable-file.ts';
import { KEY_STATES, type ManagedKey } from './managed-keys.ts';

/** Name of the file in the data directory. */
export const ANCHOR_FILE = 'trust-anchors';

const HEADER = '# weir trust anchors 1: zone, state, since, trusted from, DNSKEY data (base64)';
const CHECKSUM = 'sha256 ';

/** Keys by the zone's name in presentation form. */
export type KeysByZone = ReadonlyMap<string, readonly ManagedKey[]>;

/**
 * Reads the file in a data directory; the result is empty if the file does not exist or cannot be read; the latter is
 * logged.
 */
export async function readAnchorFile(dataDir: string, logger: Logger): Promise<KeysByZone> {
  const path = join(dataDir, ANCHOR_FILE);
  try {
    return readAnchorText(await readFile(path, 'utf8'));
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return new Map();
    const reason = reasonOf(error);
    logger.warn('could not read the stored trust anchors; using the configured ones', { path, reason });
    return new Map();
  }
}

/** Writes the file; if writing fails, it throws, and the previous file remains. */
export async function writeAnchorFile(dataDir: string, keys: KeysByZone): Promise<void> {
  await writeDurably(join(dataDir, ANCHOR_FILE), Buffer.from(anchorText(keys)));
}

/** Encodes the file. */
export function anchorText(keys: KeysByZone): string {
  const lines = [...keys].flatMap(([zone, all]) => all.map((key) => lineOf(zone, key)));
  const body = [HEADER, ...lines, ''].join('\n');
  return `${body}${CHECKSUM}${hash('sha256', body)}\n`;
}

/** Decodes the file; throws if it is incomplete. */
export function readAnchorText(text: string): KeysByZone {
  const bodyEnd = text.lastIndexOf(CHECKSUM);
  const body = text.slice(0, Math.max(bodyEnd, 0));
  if (text !== `${body}${CHECKSUM}${hash('sha256', body)}\n`) throw new Error('the file is incomplete');
  const keys = new Map<string, ManagedKey[]>();
  const [header, ...lines] = body.trimEnd().split('\n');
  if (header !== HEADER) throw new Error('the file has an unknown version');
  for (const line of lines) {
    const [zone, key] = readLine(line);
    keys.set(zone, [...(keys.get(zone) ?? []), key]);
  }
  return keys;
}

function lineOf(zone: string, { rdata, state, sinceMs, trustedFromMs }: ManagedKey): string {
  const times = [sinceMs, trustedFromMs].map((timeMs) => new Date(timeMs).toISOString());
  return [zone, state, ...times, Buffer.from(rdata).toString('base64')].join(' ');
}

function readLine(line: string): [string, ManagedKey] {
  const [zone, word, since, trustedFrom, data] = line.split(' ');
  const state = KEY_STATES.find((it) => it === word);
  const [sinceMs, trustedFromMs] = [since, trustedFrom].map((it) => Date.parse(it ?? '')) as [number, number];
  if (state === undefined || data === undefined || Number.isNaN(sinceMs + trustedFromMs))
    throw new Error(`a line does not contain a key: ${line}`);
  return [zone!, { rdata: Uint8Array.from(Buffer.from(data, 'base64')), state, sinceMs, trustedFromMs }];
}
