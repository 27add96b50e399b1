/** Clients that may query an AdGuard Home, and names that it refuses to all clients. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { admitsKey } from '../../../../shared/policy/access.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { readAdblockRule } from '../../../policy/compile/parse/adblock-rule.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addAllowed, addBlocked, reportOpen } from '../plan/planned-access.ts';
import { adguardPlaceOf } from './adguard-clients.ts';

/**
 * Adds the clients that may query and those that may not. In AdGuard Home, a list of allowed clients disables the list
 * of refused clients; if it is empty, all other clients are allowed.
 */
export function mapAdguardAccess(builder: PlanBuilder, dns: ForeignTree): void {
  const allowed = dns.texts('allowed_clients') ?? [];
  const blocked = dns.texts('disallowed_clients') ?? [];
  if (allowed.length === 0) {
    if (dns.has('allowed_clients')) reportOpen(builder, 'dns.allowed_clients');
    addBlocked(builder, knownPlaces(builder, blocked, 'dns.disallowed_clients'), 'dns.disallowed_clients');
    return;
  }
  const places = knownPlaces(builder, allowed, 'dns.allowed_clients');
  const keys = places.filter((text) => adguardPlaceOf(text)?.kind === 'key');
  for (const key of keys) {
    if (!admitsKey(key)) {
      builder.notMapped('client', `dns.allowed_clients ${key}`, importReason('adguard_short_key'));
      continue;
    }
    builder.client(
      { mac: null, ip: null, key, name: null, group: null },
      builder.item('client', `dns.allowed_clients ${key}`, importReason('adguard_known_key')),
    );
  }
  const networks = places.filter((text) => !keys.includes(text));
  addAllowed(builder, networks, 'dns.allowed_clients');
  for (const text of blocked)
    builder.skipped('configuration', `dns.disallowed_clients ${text}`, importReason('adguard_allowed_set'));
}

/** The addresses, networks and ClientIDs; all other entries are reported. */
function knownPlaces(builder: PlanBuilder, written: readonly string[], from: string): string[] {
  return written.flatMap((text) => {
    const place = adguardPlaceOf(text);
    if (place !== null) return [place.text];
    builder.notMapped('configuration', `${from} ${text}`, importReason('adguard_not_client'));
    return [];
  });
}

/** Adds the names that are not answered for any client: denied before any exception, as in AdGuard Home. */
export function mapBlockedHosts(builder: PlanBuilder, dns: ForeignTree): void {
  const lists = new GeneratedLists(builder, 'AdGuard Home: blocked hosts', 'adguard-home-blocked-hosts');
  for (const written of dns.texts('blocked_hosts') ?? []) addBlockedHost(builder, lists, written.trim());
  lists.finish();
}

function addBlockedHost(builder: PlanBuilder, lists: GeneratedLists, written: string): void {
  const [, prefix = '', rest = ''] = /^(\|\||\*\.)?([^^]*)\^?$/.exec(written.toLowerCase()) ?? [];
  const name = canonicalDomain(rest);
  const remark = importReason('adguard_not_answered');
  const item = builder.item(
    name === null ? 'list_rule' : 'managed_domain',
    `blocked_hosts ${written}`,
    remark,
  );
  if (name === null) return addBlockedPattern(builder, lists, written, item);
  const deny = { action: 'deny', groups: null, comment: '', enabled: true } as const;
  if (prefix === '*.') {
    builder.remark(item, importReason('adguard_name_itself', { name }));
    builder.rule({ table: 'regex_filters', text: `\\.${name.replaceAll('.', '\\.')}$`, ...deny }, item);
  } else builder.rule({ table: 'managed_domains', text: prefix === '' ? name : `*.${name}`, ...deny }, item);
}

/** A pattern becomes a rule of a list, where an exception may override it. */
function addBlockedPattern(builder: PlanBuilder, lists: GeneratedLists, written: string, item: number): void {
  const rule = written.includes('$') ? `${written},important` : `${written}$important`;
  const outcome = readAdblockRule(rule, false);
  if (written.startsWith('@@')) return builder.refuse(item, importReason('adguard_host_exceptions'));
  if (outcome.type === 'unused') return builder.refuse(item, outcome.unused.reason);
  builder.remark(item, importReason('adguard_list_rule'));
  lists.add(rule, null, item);
}
