/**
 * Builds an import plan. Each method validates an object with the schema of the API, so that the stored form is
 * canonical; if the schema refuses the object, its item has no equivalent, and the reason is reported. Pure.
 */
import type { ImportReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { importReason, joinReasons, plainReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { ClientCreateBody, ClientSubnetCreateBody } from '../../../../shared/api/policy/clients-api.ts';
import { ForwardZoneCreateBody } from '../../../../shared/api/policy/forward-zones-api.ts';
import { ManagedDomainCreateBody, RegexFilterCreateBody } from '../../../../shared/api/policy/rules-api.ts';
import { ScheduleProfileCreateBody } from '../../../../shared/api/policy/schedules-api.ts';
import { SourceCreateBody } from '../../../../shared/api/policy/sources-api.ts';
import { MAX_TEXT_BYTES } from '../../../../shared/api/policy/custom-text-api.ts';
import { type DnsSettingsChange, DnsSettingsBody } from '../../../../shared/api/settings-api.ts';
import type { ImportFormat, ImportItemKind } from '../../../../shared/api/imports-api.ts';
import type { SafeSearchEngineData } from '../../../../shared/api/policy/safe-search-api.ts';
import type { Fault, Schema } from '../../../../shared/api/zod.ts';
import { shownUrl } from '../../../../shared/net/shown-url.ts';
import {
  canonicalOwner,
  type LocalRecordType,
  readLocalValue,
} from '../../../../shared/policy/local-record.ts';
import { DEFAULT_LOCAL_TTL_SECS, MAX_LOCAL_TTL_SECS } from '../../../../shared/policy/local-record.ts';
import { upstream } from '../../../../config/upstream-url.ts';
import { expectedInstead } from '../../../../config/value-checks.ts';
import { checkValue } from '../../../api/validate.ts';
import { splitName } from '../../../filtering/local-names/read-record.ts';
import { DEFAULT_GROUP } from './import-plan.ts';
import type {
  ImportDocument,
  ImportPlan,
  KnownDevice,
  PlanItem,
  PlannedKey,
  PlannedList,
  Thing,
} from './import-plan.ts';
import type { GivenClient, GivenRule, GivenService, GivenSource, GivenTimes } from './given-things.ts';
import { actionOfRule, commentOf, labelOf, shownName } from './plan-text.ts';
import { joined, originsOf, put, putRule, type Things, valuesOf } from './planned-things-by-key.ts';

/** Collects items and objects. */
export class PlanBuilder {
  private readonly items: PlanItem[] = [];
  private readonly groups: Things<Thing<'groups'>> = new Map();
  private readonly sources: Things<Thing<'list_sources'>> = new Map();
  private readonly domains: Things<Thing<'managed_domains'>> = new Map();
  private readonly filters: Things<Thing<'regex_filters'>> = new Map();
  private readonly records: Things<Thing<'local_records'>> = new Map();
  private readonly zones: Things<Thing<'forward_zones'>> = new Map();
  private readonly clients: Things<Thing<'clients'>> = new Map();
  private readonly subnets: Things<Thing<'client_subnets'>> = new Map();
  private readonly services: Things<Thing<'blocked_services'>> = new Map();
  private readonly profiles: Things<Thing<'schedule_profiles'>> = new Map();
  private readonly safeSearch: Things<Thing<'safe_search'>> = new Map();
  private readonly settings: Things<unknown> = new Map();
  private readonly serviceAliases: Record<string, string> = {};
  private readonly lists: PlannedList[] = [];
  private readonly keys: PlannedKey[] = [];
  private readonly devices: KnownDevice[] = [];
  private paused: ImportPlan['pause'] = null;

  constructor() {
    const comment = '';
    put(this.groups, '', { name: DEFAULT_GROUP, enabled: true, comment, no_ipv6: false, is_default: true });
  }

  /** Adds an item whose result is that of the objects made from it; `reason` is a comment on the item. */
  item(kind: ImportItemKind, name: string, reason: ImportReason | null = null): number {
    return this.items.push({ kind, name: shownName(name), result: null, reason }) - 1;
  }

  /**
   * Adds a row about a setting that is imported but behaves differently in Weir. `domains` are the affected names: the
   * number of their queries in the log determines the order of these rows.
   */
  differs(
    kind: ImportItemKind,
    name: string,
    reason: ImportReason,
    domains: readonly string[] = [name],
  ): void {
    this.items.push({ kind, name: shownName(name), result: 'differs', reason, domains });
  }

  /** Adds an item without an equivalent; for a rule, with its action. */
  notMapped(kind: ImportItemKind, name: string, reason: ImportReason, action?: 'allow' | 'deny'): void {
    const item = this.items.push({ kind, name: shownName(name), result: 'not_mapped', reason }) - 1;
    this.acts(item, action ?? (kind === 'list_rule' ? actionOfRule(name) : undefined));
  }

  /** Adds an item that needs no import. */
  skipped(kind: ImportItemKind, name: string, reason: ImportReason): void {
    this.items.push({ kind, name: shownName(name), result: 'skipped', reason });
  }

  /** Records whether the rule of an item allows or denies; an item with rules of both kinds has neither action. */
  acts(item: number, action: 'allow' | 'deny' | undefined): void {
    const before = this.items[item]!;
    if (action === undefined || before.action === action) return;
    this.items[item] = { ...before, action: before.action === undefined ? action : null };
  }

  /** Adds to the comment on an item. */
  remark(item: number, reason: ImportReason): void {
    const { reason: before, ...rest } = this.items[item]!;
    this.items[item] = { ...rest, reason: before === null ? reason : joinReasons(before, reason) };
  }

  /** Adds a group under a name that is unique in the plan, and returns the name. */
  group(name: string, given: { readonly enabled: boolean; readonly comment: string }, item: number): string {
    const taken = (text: string): boolean =>
      text.toLowerCase() === 'default' || this.groups.has(text.toLowerCase());
    const wanted = labelOf(name, 90) ?? 'Imported group';
    let free = wanted;
    for (let n = 2; taken(free); n++) free = `${wanted} (${n})`;
    if (free !== name) this.remark(item, importReason('renamed', { name: free }));
    const { enabled } = given;
    const comment = commentOf(given.comment);
    const group = { name: free, enabled, comment, no_ipv6: false, is_default: false };
    put(this.groups, free.toLowerCase(), group, item);
    return free;
  }

  /** Adds a list source with a URL; users must add a URL with credentials themselves. */
  source(given: GivenSource, item: number): void {
    const { kind, groups, url } = given;
    if (shownUrl(url) !== url) return this.refuse(item, importReason('list_secret'));
    const read = this.checked(SourceCreateBody, item, {
      name: labelOf(given.name, 200) ?? (labelOf(url, 200) || 'imported list'),
      url,
      enabled: given.enabled,
      comment: commentOf(given.comment),
      subdomains: given.subdomains,
    });
    if (read === undefined) return;
    const { name, comment, subdomains } = read;
    const source = { kind, url, name, enabled: read.enabled, comment, subdomains, text: null };
    const key = `${kind} ${url}`;
    const other = this.sources.get(key)?.value;
    if (other === undefined) return put(this.sources, key, { ...source, groups: [...(groups ?? [])] }, item);
    // A list that is given twice applies to the groups of both entries.
    const enabled = other.enabled || given.enabled;
    put(this.sources, key, { ...other, enabled, groups: joined(other.groups, groups ?? []) }, item);
  }

  /** Adds custom rules; a text that is too long becomes items without an equivalent. */
  customRules(
    given: Omit<GivenSource, 'comment'> & { readonly text: string },
    items: readonly number[],
  ): void {
    const { text, url, groups } = given;
    if (Buffer.byteLength(text) <= MAX_TEXT_BYTES)
      return put(this.sources, url, { ...given, comment: '', groups: [...(groups ?? [])] }, ...items);
    for (const item of items) this.refuse(item, importReason('custom_rules_size', { bytes: MAX_TEXT_BYTES }));
  }

  /** Adds a list of rules that Weir stores as a file. */
  list(
    given: Omit<GivenSource, 'comment' | 'url'> & { readonly fileName: string; readonly text: string },
    items: readonly number[],
  ): void {
    const { fileName, text, groups, ...source } = given;
    const name = labelOf(given.name, 200) ?? fileName;
    const comment = '';
    this.lists.push({
      source: { ...source, name, comment, groups: [...(groups ?? [])] },
      fileName,
      text,
      items,
    });
  }

  /** Adds a managed domain or a regex filter, one for each of its groups; false if it was refused. */
  rule({ table, text, action, groups, comment, enabled }: GivenRule, item: number): boolean {
    this.acts(item, action);
    const shared = { name: labelOf(text, 200) ?? 'imported', action, enabled, comment: commentOf(comment) };
    const rule =
      table === 'managed_domains'
        ? this.checked(ManagedDomainCreateBody, item, { ...shared, domain: text })
        : this.checked(RegexFilterCreateBody, item, { ...shared, pattern: text });
    if (rule === undefined) return false;
    for (const group of groups ?? [null]) {
      if ('domain' in rule)
        putRule(this.domains, { ...shared, domain: rule.domain, group }, rule.domain, item);
      else putRule(this.filters, { ...shared, pattern: rule.pattern, group }, rule.pattern, item);
    }
    return true;
  }

  /** Adds a local record. */
  record(
    given: { name: string; type: LocalRecordType; value: string; ttlSecs?: number },
    item: number,
  ): void {
    const fqdn = canonicalOwner(given.name);
    const { type } = given;
    const value = readLocalValue(type, given.value);
    if (fqdn === null) return this.refuse(item, importReason('name_not_domain'));
    if (!value.ok) return this.refuse(item, importReason('bad_value', { expected: value.expected }));
    if (type === 'CNAME' && value.value === fqdn) return this.refuse(item, importReason('alias_of_itself'));
    const ttl = Math.min(Math.max(given.ttlSecs ?? DEFAULT_LOCAL_TTL_SECS, 0), MAX_LOCAL_TTL_SECS);
    const { hostname, domain } = splitName(fqdn);
    const record = { hostname, domain, record_type: type, value: value.value, ttl, comment: '' };
    const key = `${fqdn} ${type} ${value.value}`;
    // If a record is given twice, its first TTL is kept.
    put(this.records, key, this.records.get(key)?.value ?? record, item);
  }

  /** Adds a zone with its servers; zones of the same name are merged. */
  zone(
    given: { readonly zone: string; readonly servers: readonly string[]; readonly enabled: boolean },
    item: number,
  ): void {
    const bad = given.servers.find((server) => expectedInstead(upstream, server) !== undefined);
    if (bad !== undefined) return this.refuse(item, importReason('server_address', { address: bad }));
    const read = this.checked(ForwardZoneCreateBody, item, {
      ...given,
      servers: [...new Set(given.servers)],
    });
    if (read === undefined) return;
    const before = this.zones.get(read.zone)?.value;
    // If one of the entries is disabled, only the enabled one counts.
    const isOther = before !== undefined && before.enabled !== read.enabled;
    if (isOther) return put(this.zones, read.zone, read.enabled ? read : before, item);
    const other = before ?? read;
    const servers = [...new Set([...other.servers, ...read.servers])].slice(0, 8);
    put(this.zones, read.zone, { ...other, servers }, item);
  }

  /** Adds a client by MAC, address or key; settings of several items are merged, and the first name is kept. */
  client(given: GivenClient, item: number): void {
    const read = this.checked(ClientCreateBody, item, {
      ip_address: given.mac === null ? given.ip : null,
      mac_address: given.mac,
      client_key: given.key,
      name: given.name === null ? null : labelOf(given.name, 200),
    });
    if (read === undefined) return;
    const { ip_address, mac_address, client_key } = read;
    const known = mac_address ?? ip_address ?? client_key ?? '';
    const before = this.clients.get(known)?.value;
    const name = before?.name ?? read.name;
    const group = before?.group ?? given.group;
    const exclusions = {
      exclude_from_log: before?.exclude_from_log === true || given.excludeFromLog === true,
      exclude_from_stats: before?.exclude_from_stats === true || given.excludeFromStats === true,
    };
    const isExcluded = Object.values(exclusions).includes(true);
    if (name === null && group === null && client_key === null && !isExcluded)
      return this.refuse(item, importReason('no_name_no_group'));
    put(
      this.clients,
      known,
      { ip_address, mac_address, client_key, name, group, ...exclusions, device: null },
      item,
    );
  }

  /** Adds a network of clients. */
  subnet(
    given: { readonly cidr: string; readonly group: string; readonly comment: string },
    item: number,
  ): void {
    const { group } = given;
    const comment = commentOf(given.comment);
    const read = this.checked(ClientSubnetCreateBody, item, {
      subnet_cidr: given.cidr,
      group_id: 1,
      comment,
    });
    if (read === undefined) return;
    const { subnet_cidr: cidr } = read;
    if (this.subnets.has(cidr)) return this.refuse(item, importReason('network_twice', { network: cidr }));
    put(this.subnets, cidr, { subnet_cidr: cidr, group, comment }, item);
  }

  /** Adds a service that is blocked for a group; a later step checks whether Weir knows the service. */
  service({ serviceId, ownId, group, profile = null }: GivenService, item: number): void {
    if (ownId !== null) this.serviceAliases[serviceId] = ownId;
    put(this.services, `${serviceId} ${group}`, { service_id: serviceId, group, profile }, item);
  }

  /**
   * Adds the times at which services are blocked as a schedule profile; returns its name, or null if it was refused.
   */
  times({ name, timeZone, slots }: GivenTimes, item: number): string | null {
    const profile = this.checked(ScheduleProfileCreateBody, item, { name, timezone: timeZone });
    if (profile === undefined) return null;
    const action = 'block_all';
    const read = slots.map(
      ({ days, start, end }) =>
        ({ days, start_time: start, end_time: end, action, skips_days_off: false }) as const,
    );
    put(this.profiles, profile.name.toLowerCase(), { ...profile, slots: read }, item);
    return profile.name;
  }

  /** Disables IPv6 addresses in answers for all groups of the plan, including Default. */
  withoutIpv6(item: number): void {
    for (const [key, { value }] of this.groups) put(this.groups, key, { ...value, no_ipv6: true }, item);
  }

  /** Pauses blocking until an instant. */
  pause(until: Date, item: number): void {
    this.paused = { until: until.toISOString(), items: [item] };
  }

  /** Adds the safe mode of an engine for a group. */
  safe(
    given: {
      readonly group: string;
      readonly engine: SafeSearchEngineData['id'];
      readonly youtubeMode: 'strict' | 'moderate';
    },
    item: number,
  ): void {
    const { group, engine } = given;
    const mode = engine === 'youtube' ? given.youtubeMode : 'strict';
    put(this.safeSearch, `${engine} ${group}`, { group, engine, enabled: true, youtube_mode: mode }, item);
  }

  /** Adds one of the DNS settings of the API; `change` has one field. */
  setting(change: DnsSettingsChange, item: number): void {
    const read = this.checked(DnsSettingsBody, item, change);
    if (read === undefined) return;
    const [name, value] = Object.entries(read)[0]!;
    const key = `dns.${name}`;
    const before = this.settings.get(key);
    if (before !== undefined && before.value !== value) return this.refuse(item, importReason('two_values'));
    put(this.settings, key, value, item);
  }

  /**
   * Offers a key of the configuration: it is selected in the preview, and the import sets it like PATCH /config. `from`
   * is the name of the key in the file, or the item. With `doubt`, the key is offered but not selected, for the given
   * reason.
   */
  key(key: string, value: unknown, from: string | number, doubt: ImportReason | null = null): void {
    const item = typeof from === 'number' ? from : this.item('configuration', from);
    this.keys.push({ key, value, items: [item], doubt });
  }

  /** Records that a device had an address, so that entries for the device and for the address become one client. */
  device(mac: string, address: string): void {
    this.devices.push({ mac, address });
  }

  /** The plan. */
  finish(format: ImportFormat): ImportPlan {
    const { items, lists, serviceAliases, keys, devices } = this;
    // The log in a file is read separately, after the plan.
    const queries = new Map<string, number>();
    const document: ImportDocument = {
      groups: valuesOf(this.groups),
      clients: valuesOf(this.clients),
      client_subnets: valuesOf(this.subnets),
      list_sources: valuesOf(this.sources),
      managed_domains: valuesOf(this.domains),
      regex_filters: valuesOf(this.filters),
      safe_search: valuesOf(this.safeSearch),
      schedule_profiles: valuesOf(this.profiles),
      blocked_services: valuesOf(this.services),
      local_records: valuesOf(this.records),
      forward_zones: valuesOf(this.zones),
      configuration: Object.fromEntries([...this.settings].map(([key, { value }]) => [key, value])),
    };
    const origins: ImportPlan['origins'] = {
      groups: originsOf(this.groups),
      clients: originsOf(this.clients),
      client_subnets: originsOf(this.subnets),
      list_sources: originsOf(this.sources),
      managed_domains: originsOf(this.domains),
      regex_filters: originsOf(this.filters),
      safe_search: originsOf(this.safeSearch),
      schedule_profiles: originsOf(this.profiles),
      blocked_services: originsOf(this.services),
      local_records: originsOf(this.records),
      forward_zones: originsOf(this.zones),
      configuration: originsOf(this.settings),
    };
    const { paused: pause } = this;
    return { format, items, document, origins, lists, serviceAliases, keys, devices, queries, pause };
  }

  /** Marks an item as having no equivalent. */
  refuse(item: number, reason: ImportReason): void {
    this.items[item] = { ...this.items[item]!, result: 'not_mapped', reason };
  }

  private checked<S extends Schema>(schema: S, item: number, value: unknown) {
    const { value: read, faults } = checkValue(schema, value);
    if (faults !== null) this.refuse(item, joinReasons(...faults.map(messageOf)));
    return read;
  }
}

function messageOf({ path, message }: Fault): ImportReason {
  return plainReason(path.length === 0 ? message : `${path.join('.')}: ${message}`);
}
