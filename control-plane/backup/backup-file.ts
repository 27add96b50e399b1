/** Turns what is set into the file of a backup, and a checked file into what is to be set, or into its faults. Pure. */
import { BACKUP_VERSION } from '../../shared/api/policy/backup-api.ts';
import type { BackupFile, BackupText } from '../../shared/api/policy/backup-api.ts';
import { MAX_UNTIL_MS } from '../../shared/api/policy/grants-api.ts';
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import { hasMask, shownUrl } from '../../shared/net/shown-url.ts';
import { TEXT_URL } from '../../shared/policy/source-kind.ts';
import { timeOfDay } from '../../shared/policy/time-of-day.ts';
import { upstream } from '../../config/upstream-url.ts';
import { expectedInstead, hostPort } from '../../config/value-checks.ts';
import { ApiError, invalid } from '../api/api-error.ts';
import { readRecord } from '../local-names/read-record.ts';
import { inOrder, keyOf } from './backup-items.ts';
import type { BackupItems, LeftOut } from './backup-items.ts';
import { SECRET_FIELDS } from './access-kinds.ts';
import { KINDS } from './backup-kinds.ts';
import type { Item, KindName } from './backup-kind.ts';

/** What a file says of itself. */
export interface BackupHead {
  readonly createdAt: Date;
  readonly weir: string;
  readonly node: string;
  readonly hasSecrets: boolean;
}

/** Faults that are named at once. */
const MOST_FAULTS = 1000;

interface Slot {
  readonly start_time: number;
  readonly end_time: number;
}

/** The file of what is set. */
export function toBackupFile(items: BackupItems, head: BackupHead): BackupText {
  const written: Record<string, unknown> = {
    format: 'weir-backup',
    version: BACKUP_VERSION,
    created_at: head.createdAt.toISOString(),
    weir: head.weir,
    node: head.node,
    has_secrets: head.hasSecrets,
  };
  for (const [name, found] of items)
    written[name] = found.map((item) => toWritten(name, item, head.hasSecrets));
  const settings = items.get('dns_settings')?.[0] ?? {};
  return { ...(written as BackupText), dns_settings: settings };
}

function toWritten(kind: KindName, item: Item, hasSecrets: boolean): Item {
  switch (kind) {
    case 'list_sources':
      return hasSecrets ? item : { ...item, url: shownUrl(String(item['url'])) };
    case 'schedule_profiles': {
      const slots = (item['slots'] as Slot[]).map((slot) => {
        return { ...slot, start_time: timeOfDay(slot.start_time), end_time: timeOfDay(slot.end_time) };
      });
      return { ...item, slots };
    }
    case 'local_records': {
      const { fqdn: _fqdn, ...record } = item;
      return record;
    }
    case 'users':
    case 'api_tokens':
      return hasSecrets ? item : { ...item, [SECRET_FIELDS[kind]!]: null };
    default:
      return item;
  }
}

/** What a file wants to be set. */
export interface Wanted {
  readonly items: BackupItems;
  readonly leftOut: readonly LeftOut[];
}

/** What a file wants to be set where `current` is. @throws {ApiError} 400 with its faults */
export function readBackupFile(file: BackupFile, current: BackupItems, now: Date): Wanted {
  const problems: FieldProblem[] = [];
  const leftOut: LeftOut[] = [];
  const wanted = new Map<KindName, readonly Item[]>();
  for (const kind of KINDS) {
    const { name } = kind;
    const given: unknown = file[name];
    if (given === undefined) continue;
    const items = (name === 'dns_settings' ? settingsOf(given as Item) : given) as readonly Item[];
    const read = items.map((item, index) =>
      readItem(name, item, { path: `${name}.${index}`, current, problems, now }),
    );
    const left = read.map((item) => whyNot(name, item, now));
    wanted.set(
      name,
      read.filter((_item, index) => left[index] === undefined),
    );
    for (const [index, reason] of left.entries())
      if (reason !== undefined) leftOut.push({ kind, item: read[index]!, reason });
  }
  refuseDuplicates(wanted, problems);
  refuseOddGroups(wanted, problems);
  refuseLooseEnds(wanted, current, problems);
  if (problems.length > 0) throw invalid(problems.slice(0, MOST_FAULTS));
  return { items: wanted, leftOut };
}

/** A token without its key opens nothing, and a grant that is over lets nothing pass. */
function whyNot(kind: KindName, item: Item, now: Date): LeftOut['reason'] | undefined {
  if (kind === 'grants') return Date.parse(String(item['until'])) > now.getTime() ? undefined : 'over';
  return kind === 'api_tokens' && item['key_hash'] === null ? 'key_not_in_backup' : undefined;
}

/** Settings that say nothing are not there. */
function settingsOf(settings: Item): Item[] {
  return Object.values(settings).some((value) => value !== null) ? [settings] : [];
}

interface Place {
  readonly path: string;
  readonly current: BackupItems;
  readonly problems: FieldProblem[];
  readonly now: Date;
}

function readItem(kind: KindName, item: Item, place: Place): Item {
  const { path, problems, current, now } = place;
  const check = (field: string, form: Parameters<typeof expectedInstead>[0], value: string): void => {
    const expected = expectedInstead(form, value);
    if (expected !== undefined) problems.push({ path: `${path}.${field}`, message: `expected ${expected}` });
  };
  switch (kind) {
    case 'list_sources':
      if (String(item['url']).startsWith(TEXT_URL) !== (item['text'] !== null))
        problems.push({
          path: `${path}.text`,
          message: 'expected a text if the URL begins with text:, else null',
        });
      return inOrder({ ...item, url: unmasked(item, place) });
    case 'users':
    case 'api_tokens':
      return withSecret(kind, item, current);
    case 'grants':
      if (Date.parse(String(item['until'])) - now.getTime() > MAX_UNTIL_MS)
        problems.push({ path: `${path}.until`, message: 'expected a moment within a year' });
      return item;
    case 'clients':
      return item['mac_address'] === null ? item : { ...item, ip_address: null };
    case 'local_records':
      return readLocalRecord(item, place);
    case 'forward_zones':
      for (const [index, server] of (item['servers'] as string[]).entries())
        check(`servers.${index}`, upstream, server);
      return item;
    case 'dns_settings':
      if (typeof item['local_dns_server'] === 'string' && item['local_dns_server'] !== '')
        check('local_dns_server', hostPort, item['local_dns_server']);
      return item;
    default:
      return item;
  }
}

/** The hash that is stored here, where the file was made without secrets. */
function withSecret(kind: 'users' | 'api_tokens', item: Item, current: BackupItems): Item {
  const field = SECRET_FIELDS[kind]!;
  if (item[field] !== null) return item;
  const own = KINDS.find(({ name }) => name === kind)!;
  const stored = current.get(kind)?.find((one) => keyOf(own, one) === keyOf(own, item));
  return { ...item, [field]: stored?.[field] ?? null };
}

/** The URL with the credentials that are stored here, where the file was made without secrets. */
function unmasked({ kind, url, name }: Item, { path, current, problems }: Place): unknown {
  if (!hasMask(String(url))) return url;
  const stored = (current.get('list_sources') ?? []).filter(
    (source) => source['kind'] === kind && shownUrl(String(source['url'])) === url,
  );
  const found = stored.find((source) => source['name'] === name) ?? stored[0];
  if (found !== undefined) return found['url'];
  const message = 'the credentials are not in this backup, and not stored here; put them in the place of ***';
  problems.push({ path: `${path}.url`, message });
  return url;
}

function readLocalRecord(item: Item, { path, problems }: Place): Item {
  try {
    return { ...readRecord(item, null, '') };
  } catch (error) {
    if (!(error instanceof ApiError) || error.fields === undefined) throw error;
    for (const fault of error.fields) problems.push({ ...fault, path: `${path}.${fault.path}` });
    return item;
  }
}

function refuseDuplicates(wanted: BackupItems, problems: FieldProblem[]): void {
  for (const kind of KINDS) {
    const first = new Map<string, number>();
    for (const [index, item] of (wanted.get(kind.name) ?? []).entries()) {
      const key = kind.name === 'groups' ? String(item['name']).toLowerCase() : keyOf(kind, item);
      const same = first.get(key);
      if (same === undefined) first.set(key, index);
      else problems.push({ path: `${kind.name}.${index}`, message: `the same as ${kind.name}.${same}` });
    }
  }
}

function refuseOddGroups(wanted: BackupItems, problems: FieldProblem[]): void {
  const groups = wanted.get('groups');
  if (groups === undefined) return;
  const defaults = groups.filter((group) => group['is_default'] === true);
  if (defaults.length !== 1) problems.push({ path: 'groups', message: 'expected one group with is_default' });
  if (defaults.some((group) => group['enabled'] === false))
    problems.push({ path: 'groups', message: 'the group with is_default cannot be disabled' });
}

/** References, by kind and field, to the name of a thing of another kind. */
const REFERENCES: readonly (readonly [KindName, string, KindName, string])[] = [
  ['clients', 'group', 'groups', 'name'],
  ['client_subnets', 'group', 'groups', 'name'],
  ['list_sources', 'groups', 'groups', 'name'],
  ['managed_domains', 'group', 'groups', 'name'],
  ['regex_filters', 'group', 'groups', 'name'],
  ['blocked_services', 'group', 'groups', 'name'],
  ['blocked_services', 'profile', 'schedule_profiles', 'name'],
  ['safe_search', 'group', 'groups', 'name'],
  ['group_schedules', 'group', 'groups', 'name'],
  ['group_schedules', 'profile', 'schedule_profiles', 'name'],
  ['grants', 'group', 'groups', 'name'],
  ['blocked_services', 'service_id', 'custom_services', 'service_id'],
];

function refuseLooseEnds(wanted: BackupItems, current: BackupItems, problems: FieldProblem[]): void {
  for (const [kind, field, target, name] of REFERENCES) {
    const there = wanted.get(target) ?? current.get(target) ?? [];
    const names = new Set(there.map((item) => item[name]));
    for (const [index, item] of (wanted.get(kind) ?? []).entries())
      for (const reference of [item[field]].flat()) {
        if (typeof reference !== 'string' || names.has(reference)) continue;
        // The catalog knows the others, and may learn of them later.
        if (target === 'custom_services' && !reference.startsWith('custom-')) continue;
        const message = `"${reference}" is not among ${target}`;
        problems.push({ path: `${kind}.${index}.${field}`, message });
      }
  }
}
