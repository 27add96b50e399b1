/**
 * Reads the settings of a Pi-hole from its files: an export of version 6 (zip) or 5 (tar.gz), or a single `gravity.db`
 * or `pihole.toml`.
 */
import { basename, join } from 'node:path';
import { contentLines, decodeText } from '../files/decode-text.ts';
import { type FileSet, fileAt, filesIn } from '../files/file-set.ts';
import { ONLY_DATABASE, ONLY_TEXT } from '../files/open-upload.ts';
import { SqliteTables } from '../files/sqlite-tables.ts';
import type { PiholeDevice, PiholeKeys, PiholeSettings } from './pihole-settings.ts';
import { NO_TABLES, readDevices, readGravity, readGravityJson } from './read-gravity.ts';
import { readToml, readVersion5 } from './read-keys.ts';

/** Files that are specific to Pi-hole. */
const MARKS = ['pihole.toml', 'gravity.db', 'setupVars.conf', 'adlist.json', 'blacklist.exact.json'];

/** Beginning of a `pihole.toml`, and tables that are specific to it. */
const TOML_MARK =
  /^#.*Pi-hole configuration file|^\s*\[(?:dns\.(?:specialDomains|reply\.(?:host|blocking)|rateLimit)|webserver\.api|misc)\]\s*(?:#.*)?$/m;

/** Whether these are files of Pi-hole. */
export function isPihole(files: FileSet): boolean {
  const text = files.get(ONLY_TEXT);
  if (text !== undefined) return TOML_MARK.test(decodeText(text));
  return files.has(ONLY_DATABASE) || MARKS.some((name) => fileAt(files, name) !== undefined);
}

/** Reads the settings; databases are written to `folder` for SQLite and are not deleted. Throws an ImportFault. */
export function readPihole(files: FileSet, folder: string): PiholeSettings {
  const toml = files.get(ONLY_TEXT) ?? fileAt(files, 'pihole.toml');
  const version6 = toml === undefined ? undefined : readToml(toml);
  const keys: PiholeKeys = version6?.keys ?? readVersion5(files);
  const { gravity = 'gravity.db', ftl = 'pihole-FTL.db' } = version6?.databases ?? {};
  const database =
    files.get(ONLY_DATABASE) ?? fileAt(files, basename(gravity)) ?? fileAt(files, 'gravity.db');
  const tables =
    database !== undefined
      ? withTables('gravity.db', database, join(folder, 'gravity.db'), readGravity)
      : version6 !== undefined && (keys.others?.size ?? 0) > 0
        ? NO_TABLES
        : readGravityJson(files);
  const seen = fileAt(files, basename(ftl));
  const devices: PiholeDevice[] =
    seen === undefined ? [] : withTables('pihole-FTL.db', seen, join(folder, 'seen.db'), readDevices);
  return {
    ...tables,
    devices,
    keys,
    systemHosts: contentLines(fileAt(files, 'etc/hosts')),
    leases: contentLines(fileAt(files, 'dhcp.leases')),
    dnsmasqFiles: keys.readsDnsmasqFolder === true ? dnsmasqFiles(files) : [],
  };
}

/** Files of dnsmasq options that users wrote; Pi-hole generates all other files from its settings. */
function dnsmasqFiles(files: FileSet): [string, string[]][] {
  const written = filesIn(files, 'dnsmasq.d').filter(([path]) => !/-pihole/.test(path));
  return written.map(([path, content]) => [path, contentLines(content)]);
}

function withTables<T>(name: string, content: Buffer, path: string, read: (tables: SqliteTables) => T): T {
  const tables = new SqliteTables(name, content, path);
  try {
    return read(tables);
  } finally {
    tables.close();
  }
}
