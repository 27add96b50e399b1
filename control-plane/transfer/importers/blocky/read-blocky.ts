/**
 * Reads blocky's configuration: one YAML file, or a directory of them in the order of their paths. Tables of several
 * files are merged; for other values the last one applies. Older keys are read under their newer names.
 */
import { decodeText } from '../files/decode-text.ts';
import type { FileSet } from '../files/file-set.ts';
import { ForeignTree } from '../files/foreign-tree.ts';
import { importFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { readYaml } from '../files/read-tree.ts';
import type { BlockyList, BlockySettings } from './blocky-settings.ts';

type Table = Readonly<Record<string, unknown>>;

const YAML = /\.ya?ml$/i;
/** Sections that, together with YAML syntax, only occur in blocky's files. */
const BLOCKY_SECTION = /^(?:upstreams?|blocking|customDNS|conditional|clientLookup|bootstrapDns|hostsFile):/m;

/** Whether these are files of blocky. */
export function isBlocky(files: FileSet): boolean {
  return [...yamlFiles(files)].some(([, content]) => BLOCKY_SECTION.test(decodeText(content)));
}

/** Reads the files; throws an ImportFault. */
export function readBlocky(files: FileSet): BlockySettings {
  let merged: Table = {};
  for (const [path, content] of yamlFiles(files)) {
    const tree = readYaml(path === ONLY_TEXT ? 'the file' : path, content);
    merged = mergedTable(merged, Object.fromEntries(tree.members().map(([key, value]) => [key, value.raw])));
  }
  const file = new ForeignTree(merged);
  if (file.members().length === 0) throw importFault('not_blocky');
  return {
    lists: [
      ...listsOf(file, ['blocking.denylists', 'blocking.blackLists'], 'block'),
      ...listsOf(file, ['blocking.allowlists', 'blocking.whiteLists'], 'allow'),
    ],
    clients: file
      .members('blocking.clientGroupsBlock')
      .flatMap(([keys, groups]) =>
        keys.split(',').map((key) => ({ key: key.trim().toLowerCase(), groups: groups.texts() ?? [] })),
      ),
    names: new Map(
      file.members('clientLookup.clients').map(([name, addresses]) => [name, addresses.texts() ?? []]),
    ),
    file,
    files,
  };
}

function yamlFiles(files: FileSet): [path: string, content: Buffer][] {
  const only = files.get(ONLY_TEXT);
  if (only !== undefined) return [[ONLY_TEXT, only]];
  return [...files].filter(([path]) => YAML.test(path)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Tables are merged, everything else is replaced. */
function mergedTable(before: Table, after: Table): Table {
  const result: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    const isMerged = isTable(old) && isTable(value);
    Object.defineProperty(result, key, {
      value: isMerged ? mergedTable(old, value) : value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return result;
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listsOf(file: ForeignTree, keys: readonly string[], kind: BlockyList['kind']): BlockyList[] {
  const key = keys.find((one) => file.has(one)) ?? keys[0]!;
  return file
    .members(key)
    .flatMap(([group, places]) => (places.texts() ?? []).map((place) => ({ kind, group, place })));
}
