/** A profile of NextDNS, as its API or a browser extension writes it, as a plan of Weir's entities. */
import type { FileSet } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { ImportFault } from '../files/import-fault.ts';
import { SAFE_SEARCH_ENGINES } from '../../../../shared/api/policy/safe-search-api.ts';
import { addForeignList } from '../plan/foreign-list.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import { DEFAULT_GROUP, type ImportPlan } from '../plan/import-plan.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { listUrl } from './list-urls.ts';
import { addSpoof, profileIn, readProfile } from './read-profile.ts';

const SECTIONS = ['denylist', 'allowlist', 'privacy', 'parentalControl', 'parentalcontrol', 'rewrites'];

/** Whether the upload is a profile of NextDNS. */
export function isNextdns(files: FileSet): boolean {
  const profile = profileIn(files);
  return profile !== null && SECTIONS.filter((name) => profile.has(name)).length >= 2;
}

/** Maps it; its names stand for those below them, too. */
export function mapNextdns(files: FileSet): ImportPlan {
  const profile = readProfile(files);
  if (profile === null) throw new ImportFault('this is not a profile of NextDNS');
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
  reportRest(builder, profile);
  return builder.finish('nextdns');
}

function mapList(builder: PlanBuilder, id: string): void {
  const url = listUrl(id);
  if (url === undefined)
    return builder.notMapped('blocklist', id, 'Weir does not know where this list is from');
  const words = { noGroup: '', noText: '' };
  addForeignList(builder, { kind: 'block', place: url, name: id, enabled: true, groups: null }, words);
}

function mapParental(builder: PlanBuilder, parental: ForeignTree): void {
  for (const service of parental.list('services')) {
    const id = service.text('id') ?? '';
    if (service.flag('active') === false) builder.skipped('service', id, 'it is switched off there');
    else {
      const isTimed = service.flag('recreation') === true;
      const item = builder.item(
        'service',
        id,
        isTimed ? 'blocked at all times, without recreation time' : null,
      );
      builder.service({ serviceId: id, ownId: id.replaceAll('_', '-'), group: DEFAULT_GROUP }, item);
    }
  }
  for (const id of idsOf(parental, 'categories'))
    builder.notMapped('other', `category ${id}`, 'add a list of such names instead');
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

/** Switches that are on, and have no equivalent. */
function reportRest(builder: PlanBuilder, profile: ForeignTree): void {
  for (const section of ['security', 'privacy'])
    for (const [name, value] of profile.members(section))
      if (value.flag() === true)
        builder.notMapped('other', `${section}.${name}`, 'it is a service of NextDNS');
  for (const id of idsOf(profile, 'privacy.natives'))
    builder.notMapped('other', `privacy.natives ${id}`, 'block its telemetry as a service instead');
}

function idsOf(tree: ForeignTree, path: string): string[] {
  return tree.list(path).flatMap((entry) => entry.text('id') ?? entry.text() ?? []);
}
