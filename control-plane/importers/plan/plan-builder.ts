/**
 * Collects an import plan. Each method checks an entity with the schema of the API, so that what is stored has the same
 * canonical form; what the schema refuses becomes an item without an equivalent, with the reason. Pure.
 */
import { ClientCreateBody, ClientSubnetCreateBody } from '../../../shared/api/policy/clients-api.ts';
import { ForwardZoneCreateBody } from '../../../shared/api/policy/forward-zones-api.ts';
import { ManagedDomainCreateBody, RegexFilterCreateBody } from '../../../shared/api/policy/rules-api.ts';
import { SourceCreateBody } from '../../../shared/api/policy/sources-api.ts';
import { MAX_TEXT_BYTES } from '../../../shared/api/policy/custom-text-api.ts';
import { DnsSettingsBody } from '../../../shared/api/settings-api.ts';
import type { ImportFormat, ImportItemKind } from '../../../shared/api/imports-api.ts';
import type { Fault, Schema } from '../../../shared/api/schema-door.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import { canonicalOwner, type LocalRecordType, readLocalValue } from '../../../shared/policy/local-record.ts';
import { DEFAULT_LOCAL_TTL_SECS, MAX_LOCAL_TTL_SECS } from '../../../shared/policy/local-record.ts';
import { upstream } from '../../../config/upstream-url.ts';
import { expectedInstead } from '../../../config/value-checks.ts';
import type {
  ImportPlan,
  PlanItem,
  PlannedClient,
  PlannedGroup,
  PlannedKey,
  PlannedList,
} from './import-plan.ts';
import type { PlannedRecord, PlannedRule, PlannedSafeSearch, PlannedService } from './import-plan.ts';
import type { PlannedSetting, PlannedSource, PlannedSubnet, PlannedZone } from './import-plan.ts';
import { commentOf, labelOf, shownName } from './plan-text.ts';

/** An entity before it is checked, without what ties it to its items. */
type Given<T> = Omit<T, 'items'>;

/** Collects items and entities. */
export class PlanBuilder {
  private readonly items: PlanItem[] = [];
  private readonly groups = new Map<string, PlannedGroup>();
  private readonly sources = new Map<string, PlannedSource>();
  private readonly lists: PlannedList[] = [];
  private readonly rules = new Map<string, PlannedRule>();
  private readonly records = new Map<string, PlannedRecord>();
  private readonly zones = new Map<string, PlannedZone>();
  private readonly clients = new Map<string, PlannedClient>();
  private readonly subnets = new Map<string, PlannedSubnet>();
  private readonly services: PlannedService[] = [];
  private readonly safeSearch: PlannedSafeSearch[] = [];
  private readonly settings: PlannedSetting[] = [];
  private readonly keys: PlannedKey[] = [];

  /** Adds an item whose result is that of its entities; `reason` is a remark about it. */
  item(kind: ImportItemKind, name: string, reason: string | null = null): number {
    return this.items.push({ kind, name: shownName(name), result: null, reason }) - 1;
  }

  /** Adds an item without an equivalent. */
  notMapped(kind: ImportItemKind, name: string, reason: string): void {
    this.items.push({ kind, name: shownName(name), result: 'not_mapped', reason });
  }

  /** Adds an item that needs nothing. */
  skipped(kind: ImportItemKind, name: string, reason: string): void {
    this.items.push({ kind, name: shownName(name), result: 'skipped', reason });
  }

  /** Adds to the remark of an item. */
  remark(item: number, reason: string): void {
    const { reason: before, ...rest } = this.items[item]!;
    this.items[item] = { ...rest, reason: before === null ? reason : `${before}; ${reason}` };
  }

  /** Adds a group under a name that no other of the plan has, which it returns. */
  group(name: string, given: { readonly enabled: boolean; readonly comment: string }, item: number): string {
    const taken = (text: string): boolean =>
      text.toLowerCase() === 'default' || this.groups.has(text.toLowerCase());
    const wanted = labelOf(name, 90) ?? 'Imported group';
    let free = wanted;
    for (let n = 2; taken(free); n++) free = `${wanted} (${n})`;
    if (free !== name) this.remark(item, `named ${free} here`);
    this.groups.set(free.toLowerCase(), {
      name: free,
      enabled: given.enabled,
      comment: commentOf(given.comment),
      items: [item],
    });
    return free;
  }

  /** Adds a source of a URL; one with credentials is left to people. */
  source(given: Given<Omit<PlannedSource, 'text'>>, item: number): void {
    if (shownUrl(given.url) !== given.url)
      return this.refuse(item, 'its URL holds a secret, which is not imported: add the list by hand');
    const { kind, groups, url } = given;
    const read = this.checked(SourceCreateBody, item, {
      name: labelOf(given.name, 200) ?? (labelOf(url, 200) || 'imported list'),
      url,
      enabled: given.enabled,
      comment: commentOf(given.comment),
      subdomains: given.subdomains,
    });
    if (read === undefined) return;
    const key = `${kind} ${url}`;
    const other = this.sources.get(key);
    if (other === undefined)
      return void this.sources.set(key, { ...given, ...read, url, text: null, kind, groups, items: [item] });
    // The same list twice: it serves the groups of both.
    this.sources.set(key, {
      ...other,
      enabled: other.enabled || given.enabled,
      groups: joined(other.groups, groups),
      items: [...other.items, item],
    });
  }

  /** Adds custom rules; a text that is too long becomes items without an equivalent. */
  customRules(
    given: Given<Omit<PlannedSource, 'comment'>> & { text: string },
    items: readonly number[],
  ): void {
    const { text, url } = given;
    if (Buffer.byteLength(text) <= MAX_TEXT_BYTES)
      return void this.sources.set(url, { ...given, comment: '', items });
    for (const item of items) this.refuse(item, `custom rules have at most ${MAX_TEXT_BYTES} bytes`);
  }

  /** Adds a list of rules that stays with Weir as a file. */
  list(given: Given<PlannedList>, items: readonly number[]): void {
    this.lists.push({ ...given, name: labelOf(given.name, 200) ?? given.fileName, items });
  }

  /** Adds a managed domain or a regex filter; false if it was refused. */
  rule(given: Given<PlannedRule>, item: number): boolean {
    const { table, text, ...rest } = given;
    const shared = { action: rest.action, enabled: rest.enabled, comment: commentOf(rest.comment) };
    const canonical =
      table === 'managed_domains'
        ? this.checked(ManagedDomainCreateBody, item, { ...shared, domain: text })?.domain
        : this.checked(RegexFilterCreateBody, item, { ...shared, pattern: text })?.pattern;
    if (canonical === undefined) return false;
    const { action, groups } = rest;
    const key = JSON.stringify([table, canonical, action, groups]);
    const before = this.rules.get(key);
    const enabled = rest.enabled || before?.enabled === true;
    const items = [...(before?.items ?? []), item];
    this.rules.set(key, { table, text: canonical, action, comment: shared.comment, enabled, groups, items });
    return true;
  }

  /** Adds a local record. */
  record(
    given: { name: string; type: LocalRecordType; value: string; ttlSecs?: number },
    item: number,
  ): void {
    const fqdn = canonicalOwner(given.name);
    const value = readLocalValue(given.type, given.value);
    if (fqdn === null) return this.refuse(item, 'its name is not a domain name');
    if (!value.ok) return this.refuse(item, `its value is not ${value.expected}`);
    if (given.type === 'CNAME' && value.value === fqdn) return this.refuse(item, 'the alias leads to itself');
    const ttlSecs = Math.min(Math.max(given.ttlSecs ?? DEFAULT_LOCAL_TTL_SECS, 0), MAX_LOCAL_TTL_SECS);
    const record = { fqdn, type: given.type, value: value.value, ttlSecs };
    const key = `${fqdn} ${given.type} ${value.value}`;
    const before = this.records.get(key);
    // The same record twice: the first TTL stays.
    this.records.set(key, { ...record, ...before, items: [...(before?.items ?? []), item] });
  }

  /** Adds a zone with servers of its own; several of one name are one. */
  zone(given: Given<PlannedZone>, item: number): void {
    const bad = given.servers.find((server) => expectedInstead(upstream, server) !== undefined);
    if (bad !== undefined) return this.refuse(item, `Weir cannot ask a server written as ${bad}`);
    const read = this.checked(ForwardZoneCreateBody, item, {
      ...given,
      servers: [...new Set(given.servers)],
    });
    if (read === undefined) return;
    const { zone, servers, enabled } = read;
    const other = this.zones.get(zone);
    const both = [...new Set([...(other?.servers ?? []), ...servers])].slice(0, 8);
    const items = [...(other?.items ?? []), item];
    this.zones.set(zone, { zone, servers: both, enabled: other?.enabled ?? enabled, items });
  }

  /** Adds a client by MAC, address or key; what several items say of it is put together, and the first name stays. */
  client(given: Given<PlannedClient>, item: number): void {
    const read = this.checked(ClientCreateBody, item, {
      ip_address: given.mac === null ? given.ip : null,
      mac_address: given.mac,
      client_key: given.key,
      name: given.name === null ? null : labelOf(given.name, 200),
    });
    if (read === undefined) return;
    const { ip_address: ip, mac_address: mac, client_key: key, name } = read;
    const known = mac ?? ip ?? key ?? '';
    const before = this.clients.get(known);
    this.clients.set(known, {
      ...{ mac, ip, key },
      name: before?.name ?? name,
      group: before?.group ?? given.group,
      items: [...(before?.items ?? []), item],
    });
  }

  /** Adds a network of clients. */
  subnet(given: Given<PlannedSubnet>, item: number): void {
    const comment = commentOf(given.comment);
    const read = this.checked(ClientSubnetCreateBody, item, {
      subnet_cidr: given.cidr,
      group_id: 1,
      comment,
    });
    if (read === undefined) return;
    const cidr = read.subnet_cidr;
    if (this.subnets.has(cidr)) return this.refuse(item, `${cidr} is in the file already`);
    this.subnets.set(cidr, { cidr, group: given.group, comment, items: [item] });
  }

  /** Adds a service that is blocked for a group; whether Weir knows it is found out later. */
  service(given: Given<PlannedService>, item: number): void {
    this.services.push({ ...given, items: [item] });
  }

  /** Adds the safe mode of an engine for a group. */
  safe(given: Given<PlannedSafeSearch>, item: number): void {
    this.safeSearch.push({ ...given, items: [item] });
  }

  /** Adds one of the DNS settings that the API keeps; `change` has one field. */
  setting(change: PlannedSetting['change'], item: number): void {
    const read = this.checked(DnsSettingsBody, item, change);
    if (read === undefined) return;
    const [name, value] = Object.entries(read)[0]!;
    const before = this.settings.findIndex((other) => name in other.change);
    if (before < 0) return void this.settings.push({ change: read, items: [item] });
    const other = this.settings[before]!;
    if ((other.change as Record<string, unknown>)[name] !== value)
      return this.refuse(item, 'the file gives it two values; the first one counts');
    this.settings[before] = { ...other, items: [...other.items, item] };
  }

  /** Adds a key of the configuration. */
  key(key: string, value: unknown, from: string): void {
    this.keys.push({ key, value, items: [this.item('configuration', from)] });
  }

  /** The plan. */
  finish(format: ImportFormat): ImportPlan {
    const { items, lists, services, safeSearch, settings, keys } = this;
    const [sources, zones] = [[...this.sources.values()], [...this.zones.values()]];
    const subnets = [...this.subnets.values()];
    const [groups, clients] = [[...this.groups.values()], [...this.clients.values()]];
    const [rules, records] = [[...this.rules.values()], [...this.records.values()]];
    return {
      format,
      items,
      groups,
      sources,
      lists,
      rules,
      records,
      zones,
      clients,
      subnets,
      services,
      safeSearch,
      settings,
      keys,
    };
  }

  /** Turns an item into one without an equivalent. */
  refuse(item: number, reason: string): void {
    this.items[item] = { ...this.items[item]!, result: 'not_mapped', reason };
  }

  private checked<S extends Schema>(schema: S, item: number, value: unknown) {
    const read = schema.safeParse(value);
    if (!read.success) this.refuse(item, read.error.issues.map(messageOf).join('; '));
    return read.data;
  }
}

function messageOf({ path, message }: Fault): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function joined(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}
