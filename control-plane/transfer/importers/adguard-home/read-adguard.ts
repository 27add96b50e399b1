/**
 * Reads `AdGuardHome.yaml`, alone or in an archive with `leases.json` and `data/filters/`. Supports schema 12 or newer.
 */
import { fileAt, filesIn, type FileSet } from '../files/file-set.ts';
import { decodeText } from '../files/decode-text.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { importFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { readJson, readYaml } from '../files/read-tree.ts';
import { takeRules } from './rules/rules-block.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type {
  AdguardClient,
  AdguardFilter,
  AdguardLease,
  AdguardPolicy,
  AdguardSchedule,
  AdguardSettings,
} from './adguard-settings.ts';

const NAME = 'AdGuardHome.yaml';
const OLDEST_SCHEMA = 12;
/** The schema since which some keys are in `filtering` instead of `dns`. */
const FILTERING_SINCE = 26;
/** Engines of the single switch that existed before each engine had its own. */
const ENGINES_OF_SWITCH = ['bing', 'duckduckgo', 'google', 'pixabay', 'yandex', 'youtube'];
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const ENGINES = [...ENGINES_OF_SWITCH, 'ecosia'];

/** Whether the files are those of an AdGuard Home. */
export function isAdguard(files: FileSet): boolean {
  if (fileAt(files, NAME) !== undefined) return true;
  const only = files.get(ONLY_TEXT);
  return only !== undefined && /^schema_version:[ \t]*\d/m.test(decodeText(only));
}

/** Reads the files; throws an ImportFault. */
export function readAdguard(files: FileSet): AdguardSettings {
  const content = fileAt(files, NAME) ?? files.get(ONLY_TEXT);
  if (content === undefined) throw importFault('adguard_missing', { file: NAME });
  if (!isAdguard(files)) throw importFault('adguard_without_number', { file: NAME });
  const taken = takeRules(decodeText(content));
  const file = readYaml(NAME, taken === null ? content : Buffer.from(taken.rest));
  const schema = file.count('schema_version');
  if (schema === undefined) throw importFault('adguard_without_schema', { file: NAME });
  if (schema < OLDEST_SCHEMA)
    throw importFault('adguard_old', { file: NAME, version: schema, min: OLDEST_SCHEMA });
  const dns = file.at('dns');
  const filtering = schema < FILTERING_SINCE ? dns : file.at('filtering');
  const everyone = policyOf(filtering);
  const upstreamFile = upstreamFileOf(dns, files);
  return {
    schema,
    filters: [
      ...filtersOf(file.list('filters'), 'block', files),
      ...filtersOf(file.list('whitelist_filters'), 'allow', files),
    ],
    rules: taken?.rules ?? file.texts('user_rules') ?? [],
    rewrites: rewritesOf(filtering),
    everyone,
    clients: clientsOf(file).map((client) => clientOf(client, everyone)),
    leases: leasesOf(files),
    upstreamFile,
    dns,
    filtering,
    file,
  };
}

function filtersOf(
  list: readonly ForeignTree[],
  kind: AdguardFilter['kind'],
  files: FileSet,
): AdguardFilter[] {
  const copies = new Map(
    filesIn(files, 'filters', '.txt').map(([path, copy]) => [path.split('/').at(-1), copy]),
  );
  return list.map((filter) => {
    const id = filter.text('id') ?? '';
    const url = filter.text('url')?.trim() ?? '';
    const shared = { kind, url, id, name: filter.text('name') ?? '' };
    return { ...shared, enabled: filter.flag('enabled') === true, copy: copies.get(`${id}.txt`) ?? null };
  });
}

function rewritesOf(filtering: ForeignTree): AdguardSettings['rewrites'] {
  const areOn = filtering.flag('rewrites_enabled') !== false;
  return filtering.list('rewrites').map((rewrite) => ({
    domain: rewrite.text('domain')?.trim() ?? '',
    answer: rewrite.text('answer')?.trim() ?? '',
    enabled: areOn && rewrite.flag('enabled') !== false,
  }));
}

/** `clients` was a list itself before schema 14. */
function clientsOf(file: ForeignTree): ForeignTree[] {
  return [...file.list('clients'), ...file.list('clients.persistent')];
}

function clientOf(client: ForeignTree, everyone: AdguardPolicy): AdguardClient {
  const own = policyOf(client);
  const hasOwnSettings = client.flag('use_global_settings') === false;
  const hasOwnServices = client.flag('use_global_blocked_services') === false;
  const { isFiltered, safeSearch } = hasOwnSettings ? own : everyone;
  const { services, schedule } = hasOwnServices ? own : everyone;
  const others = [
    ...(client.list('upstreams').length > 0 ? ['its own upstreams'] : []),
    ...(hasOwnSettings && client.flag('parental_enabled') === true ? ['parental control'] : []),
    ...(hasOwnSettings && client.flag('safebrowsing_enabled') === true ? ['safe browsing'] : []),
  ];
  return {
    name: client.text('name') ?? '',
    ids: client.texts('ids') ?? [],
    policy: { isFiltered, safeSearch, services, schedule },
    tags: client.texts('tags') ?? [],
    isUnlogged: client.flag('ignore_querylog') === true,
    isUncounted: client.flag('ignore_statistics') === true,
    others,
  };
}

function policyOf(tree: ForeignTree): AdguardPolicy {
  const services = tree.texts('blocked_services') ?? tree.texts('blocked_services.ids') ?? [];
  return {
    isFiltered: tree.flag('filtering_enabled') !== false,
    safeSearch: enginesOf(tree),
    services: [...new Set(services)].sort(),
    schedule: services.length > 0 ? scheduleOf(tree.at('blocked_services.schedule')) : null,
  };
}

function enginesOf(tree: ForeignTree): string[] {
  if (!tree.has('safe_search.enabled'))
    return tree.flag('safesearch_enabled') === true ? ENGINES_OF_SWITCH : [];
  if (tree.flag('safe_search.enabled') !== true) return [];
  return ENGINES.filter((engine) => tree.flag(`safe_search.${engine}`) === true).sort();
}

/** The times at which services are allowed; null = never. */
function scheduleOf(tree: ForeignTree): AdguardSchedule | null {
  const days = WEEKDAYS.map((day) => {
    const start = minutesOf(tree.text(`${day}.start`));
    const end = minutesOf(tree.text(`${day}.end`));
    return start < end ? { start, end } : null;
  });
  return days.every((day) => day === null) ? null : { timeZone: tree.text('time_zone') ?? '', days };
}

/** Minutes of a day; `30600000` is milliseconds, as in older files. */
function minutesOf(written: string | undefined): number {
  const secs = goDurationSecs(written, 0.001) ?? 0;
  return Math.min(Math.floor(secs / 60), 1440);
}

function upstreamFileOf(dns: ForeignTree, files: FileSet): string[] | null {
  const name = (dns.text('upstream_dns_file') ?? '').split('/').at(-1)!;
  const content = name === '' ? undefined : fileAt(files, name);
  return content === undefined ? null : decodeText(content).split('\n');
}

function leasesOf(files: FileSet): AdguardLease[] {
  const content = fileAt(files, 'leases.json');
  if (content === undefined) return [];
  return readJson('leases.json', content)
    .list('leases')
    .map((lease) => ({
      mac: lease.text('mac') ?? '',
      address: lease.text('ip') ?? '',
      name: lease.text('hostname')?.trim() ?? '',
      isStatic: lease.flag('static') === true,
    }));
}
