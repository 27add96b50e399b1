/** Maps a profile of NextDNS, as exported by its API or a browser extension, to a plan of Weir's entities. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason, plainReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { FileSet } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { importFault } from '../files/import-fault.ts';
import { SAFE_SEARCH_ENGINES } from '../../../../shared/api/policy/safe-search-api.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { DEFAULT_GROUP, type ImportPlan } from '../plan/import-plan.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { listUrl } from './list-urls.ts';
import { addSpoof, profileIn, readProfile } from './read-profile.ts';

const DAY_SECS = 86_400;
const SECTIONS = ['denylist', 'allowlist', 'privacy', 'parentalControl', 'parentalcontrol', 'rewrites'];

/** Whether the upload is a profile of NextDNS. */
export function isNextdns(files: FileSet): boolean {
  const profile = profileIn(files);
  return profile !== null && SECTIONS.filter((name) => profile.has(name)).length >= 2;
}

/** Maps a profile; each name in it also covers its subdomains. */
export function mapNextdns(files: FileSet): ImportPlan {
  const profile = readProfile(files);
  if (profile === null) throw importFault('not_nextdns');
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'NextDNS: names', 'nextdns-names');
  const names = new OwnNames(builder, lists);
  for (const [key, action] of [
    ['denylist', 'deny'],
    ['allowlist', 'allow'],
  ] as const)
    for (const entry of profile.list(key)) {
      const name = (entry.text('id') ?? '').replace(/^\*\./, '');
      names.add({ name: `*.${name}`, action, groups: null, enabled: entry.flag('active') !== false });
    }
  for (const tld of idsOf(profile, 'security.tlds'))
    names.add({ name: `*.${tld}`, action: 'deny', groups: null });
  names.finish();
  lists.finish();
  for (const rewrite of profile.list('rewrites'))
    addSpoof(builder, rewrite.text('name') ?? '', rewrite.text('content') ?? '', true);
  for (const id of idsOf(profile, 'privacy.blocklists')) mapList(builder, id);
  mapParental(
    builder,
    profile.has('parentalControl') ? profile.at('parentalControl') : profile.at('parentalcontrol'),
  );
  mapSwitches(builder, profile);
  return builder.finish('nextdns');
}

function mapList(builder: PlanBuilder, id: string): void {
  const url = listUrl(id);
  if (url === undefined) return builder.notMapped('blocklist', id, importReason('profile_list_url'));
  const words = { noGroup: plainReason(''), noText: plainReason('') };
  addForeignList(builder, { kind: 'block', place: url, name: id, enabled: true, groups: null }, words);
}

function mapParental(builder: PlanBuilder, parental: ForeignTree): void {
  for (const service of parental.list('services')) {
    const id = service.text('id') ?? '';
    if (service.flag('active') === false) builder.skipped('service', id, importReason('file_disabled'));
    else {
      if (service.flag('recreation') === true)
        builder.differs('service', id, importReason('profile_recreation'), []);
      const item = builder.item('service', id);
      builder.service({ serviceId: id, ownId: id.replaceAll('_', '-'), group: DEFAULT_GROUP }, item);
    }
  }
  if (parental.flag('blockBypass') === true)
    builder.notMapped('other', 'parentalControl.blockBypass', importReason('profile_service_list'));
  for (const id of idsOf(parental, 'categories'))
    builder.notMapped('other', itemName('category', { id }), importReason('profile_name_list'));
  const isStrict = parental.flag('youtubeRestrictedMode') === true;
  const isSafe = parental.flag('safeSearch') === true;
  for (const engine of SAFE_SEARCH_ENGINES) {
    if (engine === 'youtube' ? !isStrict : !isSafe) continue;
    builder.safe(
      { group: DEFAULT_GROUP, engine, youtubeMode: 'strict' },
      builder.item('safe_search', engine),
    );
  }
}

/** Adds switches that have a key in Weir, and reports enabled switches without one. */
function mapSwitches(builder: PlanBuilder, profile: ForeignTree): void {
  const isProtected = profile.flag('security.dnsRebinding');
  if (isProtected !== undefined)
    builder.key('dns.rebinding_protection', isProtected, 'security.dnsRebinding');
  for (const section of ['security', 'privacy'])
    for (const [name, value] of profile.members(section))
      if (value.flag() === true && name !== 'dnsRebinding')
        builder.notMapped('other', `${section}.${name}`, importReason('profile_nextdns_service'));
  for (const id of idsOf(profile, 'privacy.natives'))
    builder.notMapped('other', `privacy.natives ${id}`, importReason('profile_telemetry'));
  mapLogs(builder, profile.at('settings.logs'));
  for (const [name, value] of profile.members('settings.performance'))
    if (name === 'ecs' && value.flag() === true)
      builder.key('dns.ecs', 'forward', 'settings.performance.ecs');
    else builder.skipped('other', `settings.performance.${name}`, importReason('profile_nextdns_only'));
  if (profile.flag('settings.blockPage.enabled') === true)
    builder.notMapped('other', 'settings.blockPage', importReason('profile_block_page'));
  if (profile.flag('settings.web3') === true)
    builder.notMapped('other', 'settings.web3', importReason('profile_blockchain'));
}

function mapLogs(builder: PlanBuilder, logs: ForeignTree): void {
  const isOn = logs.flag('enabled');
  if (isOn !== undefined) builder.key('database.log_queries', isOn, 'settings.logs.enabled');
  const secs = logs.count('retention') ?? 0;
  if (secs > 0) {
    const days = Math.min(Math.max(Math.round(secs / DAY_SECS), 1), 3650);
    builder.key('database.query_log_days', days, 'settings.logs.retention');
  }
  const drops = ['ip', 'domain'].map((name) => logs.flag(`drop.${name}`) === true);
  if (drops[1] === true) builder.key('database.query_log_privacy', 'off', 'settings.logs.drop.domain');
  else if (drops[0] === true)
    builder.key('database.query_log_privacy', 'anonymous_clients', 'settings.logs.drop.ip');
  if (logs.has('location'))
    builder.skipped('other', 'settings.logs.location', importReason('profile_own_log'));
}

function idsOf(tree: ForeignTree, path: string): string[] {
  return tree.list(path).flatMap((entry) => entry.text('id') ?? entry.text() ?? []);
}
