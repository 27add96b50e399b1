/** Maps a folder of rules of Control D to a plan of Weir's entities. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { FileSet } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { importFault } from '../files/import-fault.ts';
import { GeneratedLists } from '../plan/generated-lists.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { OwnNames } from '../plan/own-names.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { addSpoof, profileIn, readProfile } from './read-profile.ts';

/** Action of a rule. */
const Action = { BLOCK: 0, BYPASS: 1, SPOOF: 2, REDIRECT: 3 } as const;

/** Whether the upload is a folder of Control D. */
export function isControld(files: FileSet): boolean {
  return (
    profileIn(files)
      ?.list('rules')
      .some((rule) => rule.has('PK')) === true
  );
}

/** Maps the folder. */
export function mapControld(files: FileSet): ImportPlan {
  const folder = readProfile(files);
  if (folder === null) throw importFault('not_controld');
  const builder = new PlanBuilder();
  const lists = new GeneratedLists(builder, 'Control D: names', 'controld-names');
  const names = new OwnNames(builder, lists);
  // A rule without an action inherits it from its folder.
  const shared = folder.at('group.action');
  for (const rule of folder.list('rules')) mapRule(builder, names, rule, shared);
  names.finish();
  lists.finish();
  return builder.finish('controld');
}

function mapRule(builder: PlanBuilder, names: OwnNames, rule: ForeignTree, shared: ForeignTree): void {
  const name = rule.text('PK') ?? '';
  const action = rule.has('action.do') ? rule.at('action') : shared;
  const enabled = action.count('status') !== 0;
  switch (action.count('do')) {
    case Action.BLOCK:
      return names.add({ name, action: 'deny', groups: null, enabled });
    case Action.BYPASS:
      return names.add({ name, action: 'allow', groups: null, enabled });
    case Action.SPOOF:
      if (!enabled) return builder.skipped('local_record', name, importReason('file_disabled'));
      return addSpoof(builder, name, action.text('via') ?? '', false);
    case Action.REDIRECT:
      return builder.notMapped('other', name, importReason('profile_proxy'));
    default:
      return builder.notMapped('other', name, importReason('profile_action'));
  }
}
