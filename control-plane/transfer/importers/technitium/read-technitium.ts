/** Reads the zip that a Technitium DNS Server exports, versions 13 to 15. */
import { decodeText } from '../files/decode-text.ts';
import { fileAt, filesIn, type FileSet } from '../files/file-set.ts';
import { importFault } from '../files/import-fault.ts';
import { readJson } from '../files/read-tree.ts';
import { ByteReader } from './byte-reader.ts';
import type { TechnitiumList, TechnitiumSettings, TechnitiumZone } from './technitium-settings.ts';

const MARKS = ['dns.config', 'blocklist.config', 'blocked.config', 'allowed.config'];
const APP = /(?:^|\/)apps\/([^/]+)\/dnsApp\.config$/;
const ADVANCED_BLOCKING = 'Advanced Blocking';
const DEFAULT_HOURS = null;

/** Whether the files are those of a Technitium DNS Server. */
export function isTechnitium(files: FileSet): boolean {
  return (
    MARKS.some((name) => fileAt(files, name) !== undefined) ||
    [...files.keys()].some((path) => APP.test(path))
  );
}

/** Reads the settings; throws an ImportFault. */
export function readTechnitium(files: FileSet): TechnitiumSettings {
  if (
    !isTechnitium(files) &&
    fileAt(files, 'settings.json') === undefined &&
    filesIn(files, 'zones').length === 0
  )
    throw importFault('not_technitium');
  const answer = fileAt(files, 'settings.json');
  const settings = answer === undefined ? null : readJson('settings.json', answer);
  const apps = [...files].flatMap(([path, content]) => {
    const name = APP.exec(path)?.[1];
    return name === undefined ? [] : [{ name, content }];
  });
  const blocking = apps.find(({ name }) => name === ADVANCED_BLOCKING);
  return {
    ...listsOf(fileAt(files, 'blocklist.config')),
    allowed: namesOf('allowed.config', 'AZ', fileAt(files, 'allowed.config')),
    blocked: namesOf('blocked.config', 'BZ', fileAt(files, 'blocked.config')),
    zones: filesIn(files, 'zones').map(([path, content]) => zoneOf(path, content)),
    advancedBlocking:
      blocking === undefined ? null : readJson(`apps/${ADVANCED_BLOCKING}/dnsApp.config`, blocking.content),
    apps: apps.map(({ name }) => name).filter((name) => name !== ADVANCED_BLOCKING),
    settings: settings?.has('response') === true ? settings.at('response') : settings,
    hasBinarySettings: fileAt(files, 'dns.config') !== undefined,
  };
}

/** The notation of a list: `!` before an allowlist, `#` before a disabled list. */
export function listOf(written: string): TechnitiumList {
  const [, marks = '', url = ''] = /^([!#\s]*)(.*)$/s.exec(written) ?? [];
  return { url, kind: marks.includes('!') ? 'allow' : 'block', enabled: !marks.includes('#') };
}

function listsOf(content: Buffer | undefined): Pick<TechnitiumSettings, 'lists' | 'refreshHours'> {
  if (content === undefined) return { lists: [], refreshHours: DEFAULT_HOURS };
  const reader = new ByteReader('blocklist.config', content);
  reader.head('BL', 1);
  const lists = reader.texts(reader.octet()).map(listOf);
  return { lists, refreshHours: reader.integer() };
}

function namesOf(file: string, magic: string, content: Buffer | undefined): string[] {
  if (content === undefined) return [];
  const reader = new ByteReader(file, content);
  reader.head(magic, 1);
  return reader.texts(reader.integer());
}

/** A zone in binary form contains zero bytes; a zone as text does not. */
function zoneOf(path: string, content: Buffer): TechnitiumZone {
  const name = (path.split('/').at(-1) ?? path).replace(/\.(?:zone|txt)$/i, '');
  return { name, text: content.includes(0) ? null : decodeText(content) };
}
