/** Converts a validated file into the objects that it sets, or into its errors. Pure. */
import type { BackupFile } from '../../../shared/api/policy/backup-api.ts';
import { MAX_UNTIL_MS } from '../../../shared/api/policy/grants-api.ts';
import type { FieldProblem } from '../../../shared/api/problem-details.ts';
import { hasMask, shownUrl } from '../../../shared/net/shown-url.ts';
import { TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { upstream } from '../../../config/upstream-url.ts';
import { expectedInstead } from '../../../config/value-checks.ts';
import { ApiError, invalid } from '../../api/api-error.ts';
import { looksLike } from '../../web/auth/accounts/user-name.ts';
import { readRecord } from '../../filtering/local-names/read-record.ts';
import { inOrder, keyOf } from './backup-items.ts';
import type { BackupItems, LeftOut } from './backup-items.ts';
import { type KindWithSecret, SECRET_FIELDS } from './access-kinds.ts';
import { KINDS } from './backup-kinds.ts';
import { isOutOfDate, readCertificateItem } from './certificate-items.ts';
import { itemsOfValues, unmaskedValue, withDnsSettings } from './configuration-items.ts';
import type { BackupKind, Item, KindName } from './backup-kind.ts';

/** Maximum number of reported errors. */
const MAX_FAULTS = 1000;

/** The objects that a file sets. */
export interface Wanted {
  readonly items: BackupItems;
  readonly leftOut: readonly LeftOut[];
}

/** The purpose of reading a file. */
export interface ReadFor {
  readonly now: Date;
  /** Name of the administrator on this server. */
  readonly adminName: string;
}

/**
 * The objects that a file sets; `current` are the objects on this server. @throws {ApiError} 400 with the errors of the
 * file
 */
export function readBackupFile(file: BackupFile, current: BackupItems, { now, adminName }: ReadFor): Wanted {
  const problems: FieldProblem[] = [];
  const leftOut: LeftOut[] = [];
  const wanted = new Map<KindName, readonly Item[]>();
  for (const kind of KINDS) {
    const { name } = kind;
    const items = name === 'configuration' ? configured(file, current, problems) : file[name];
    // A certificate is replaced, not removed.
    if (items === undefined || (name === 'certificates' && items.length === 0)) continue;
    if (name === 'configuration') {
      wanted.set(name, unmaskedConfiguration(items, { kind, current, leftOut }));
      continue;
    }
    const read = (items as readonly Item[]).map((item, index) =>
      readItem(name, item, { path: `${name}.${index}`, current, problems, now }),
    );
    const left = read.map((item) => whyNot(name, item, { now, adminName }));
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
  refuseOtherRoles(wanted, current, problems);
  if (problems.length > 0) throw invalid(problems.slice(0, MAX_FAULTS));
  return { items: wanted, leftOut };
}

/** A user with this name could not log in, as it is the administrator's. */
function isNamed({ username }: Item, adminName: string): boolean {
  return looksLike(String(username), adminName);
}

/** Whether a grant has expired; null = it has no end. */
function isOver(until: unknown, now: Date): boolean {
  return typeof until === 'string' && Date.parse(until) <= now.getTime();
}

/**
 * Leaves out expired objects, and those that are useless without their secret. Users are kept without their password,
 * because they can get a new password.
 */
function whyNot(kind: KindName, item: Item, { now, adminName }: ReadFor): LeftOut['reason'] | undefined {
  switch (kind) {
    case 'users':
      return isNamed(item, adminName) ? 'is_administrator' : undefined;
    case 'grants':
      return isOver(item['until'], now) ? 'over' : undefined;
    case 'certificates':
      if (item['key'] === null) return 'key_not_in_backup';
      return isOutOfDate(item, now) ? 'over' : undefined;
    case 'api_tokens':
    case 'second_factors':
      if (kind === 'second_factors' && isNamed(item, adminName)) return 'is_administrator';
      return item[SECRET_FIELDS[kind]] === null ? 'key_not_in_backup' : undefined;
    default:
      return undefined;
  }
}

/** The configuration in a file; files of version 1 contain four of its keys. */
function configured(
  file: BackupFile,
  current: BackupItems,
  problems: FieldProblem[],
): readonly Item[] | undefined {
  if (file.configuration !== undefined) return itemsOfValues(file.configuration, problems);
  if (file.dns_settings === undefined) return undefined;
  return withDnsSettings(current.get('configuration') ?? [], file.dns_settings);
}

/**
 * The configuration with the secrets that are stored on this server; a value whose secret is not stored is unchanged.
 */
function unmaskedConfiguration(
  items: readonly Item[],
  { kind, current, leftOut }: { kind: BackupKind; current: BackupItems; leftOut: LeftOut[] },
): Item[] {
  const stored = current.get('configuration') ?? [];
  return items.flatMap((item) => {
    const found = unmaskedValue(item, stored);
    if (found !== null) return [found];
    leftOut.push({ kind, item, reason: 'key_not_in_backup' });
    return stored.filter(({ key }) => key === item['key']);
  });
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
          message: 'expected a string if the URL begins with text:, else null',
        });
      return inOrder({ ...item, url: unmasked(item, place) });
    case 'users':
    case 'second_factors':
    case 'api_tokens':
      return withSecret(kind, item, current);
    case 'certificates':
      return readCertificateItem(withSecret(kind, item, current), path, problems);
    case 'grants':
      if (Date.parse(String(item['until'])) - now.getTime() > MAX_UNTIL_MS)
        problems.push({ path: `${path}.until`, message: 'expected a time within a year from now' });
      return item;
    case 'clients':
      return item['mac_address'] === null ? item : { ...item, ip_address: null };
    case 'local_records':
      return readLocalRecord(item, place);
    case 'forward_zones':
      for (const [index, server] of (item['servers'] as string[]).entries())
        check(`servers.${index}`, upstream, server);
      return item;
    default:
      return item;
  }
}

/** The hash that is stored on this server, if the file contains no secrets. */
function withSecret(kind: KindWithSecret, item: Item, current: BackupItems): Item {
  const field = SECRET_FIELDS[kind];
  if (item[field] !== null) return kind === 'second_factors' ? withSortedCodes(item) : item;
  const own = KINDS.find(({ name }) => name === kind)!;
  const stored = current
    .get(kind)
    ?.find((one) => keyOf(own, one) === keyOf(own, item) && one['cert'] === item['cert']);
  return { ...item, [field]: stored?.[field] ?? null };
}

/** The recovery codes are in the order of the database, so that equal lists of codes compare as equal. */
function withSortedCodes(item: Item): Item {
  const { secret, recovery_codes: codes } = item['factor'] as { secret: string; recovery_codes: string[] };
  return { ...item, factor: { secret, recovery_codes: [...new Set(codes)].toSorted() } };
}

/** The URL with the credentials that are stored on this server, if the file contains no secrets. */
function unmasked({ kind, url, name }: Item, { path, current, problems }: Place): unknown {
  if (!hasMask(String(url))) return url;
  const stored = (current.get('list_sources') ?? []).filter(
    (source) => source['kind'] === kind && shownUrl(String(source['url'])) === url,
  );
  const found = stored.find((source) => source['name'] === name) ?? stored[0];
  if (found !== undefined) return found['url'];
  const message = 'neither this backup nor this server contains the credentials; replace *** with them';
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

/** References, by kind and field, to the name of an object of another kind. */
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
  ['user_clients', 'username', 'users', 'username'],
  ['second_factors', 'username', 'users', 'username'],
  ['blocked_services', 'service_id', 'custom_services', 'service_id'],
];

/** Only users of the role family have clients. */
function refuseOtherRoles(wanted: BackupItems, current: BackupItems, problems: FieldProblem[]): void {
  const users = wanted.get('users') ?? current.get('users') ?? [];
  const others = new Set(users.filter(({ role }) => role !== 'family').map((user) => user['username']));
  for (const [index, { username }] of (wanted.get('user_clients') ?? []).entries())
    if (others.has(username))
      problems.push({
        path: `user_clients.${index}.username`,
        message: 'expected a user of the role family',
      });
}

function refuseLooseEnds(wanted: BackupItems, current: BackupItems, problems: FieldProblem[]): void {
  for (const [kind, field, target, name] of REFERENCES) {
    const there = wanted.get(target) ?? current.get(target) ?? [];
    const names = new Set(there.map((item) => item[name]));
    for (const [index, item] of (wanted.get(kind) ?? []).entries())
      for (const reference of [item[field]].flat()) {
        if (typeof reference !== 'string' || names.has(reference)) continue;
        // Services without this prefix are in the catalog, or may be added to it later.
        if (target === 'custom_services' && !reference.startsWith('custom-')) continue;
        const message = `"${reference}" is not among ${target}`;
        problems.push({ path: `${kind}.${index}.${field}`, message });
      }
  }
}
