/**
 * Merges the document of a plan into the current settings: in one transaction, with one revision, and active when the
 * promise resolves. Repeating an import changes nothing. A dry run does the same and rolls back.
 */
import { importReason, plainReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ImportReport } from '../../../../shared/api/imports-api.ts';
import type { WrittenLocalRecord } from '../../../../shared/policy/local-record.ts';
import type { Author } from '../../../api/caller.ts';
import { keyOf, readKinds } from '../../backup/backup-items.ts';
import type { Item } from '../../backup/backup-kind.ts';
import { KINDS } from '../../backup/backup-kinds.ts';
import { type Merge, mergeItems, MERGED_KINDS, type MergedKind } from '../../backup/merge-items.ts';
import { storeChanges, type StoredChanges } from '../../backup/store-changes.ts';
import type { ChangedClients } from '../../../clients/devices/client-record.ts';
import type { Queryable } from '../../../storage/db/database.ts';
import {
  readBlockingSwitch,
  storeBlockingSwitch,
} from '../../../filtering/schedules/blocking-switch-store.ts';
import { listGroups } from '../../../clients/groups/group-store.ts';
import { listSources, recordFacts, type StoredSource } from '../../../lists/sources/source-store.ts';
import type { Changed, ChangeWork, Follow, PolicyChanges, Recorded } from '../../../policy/change/change.ts';
import { readRule, REGEX_FILTERS, updateRule } from '../../../filtering/rules/rule-store.ts';
import type { RefusedFilter } from '../../../policy/snapshot/build/manual-rules.ts';
import type { Values } from '../../../../config/layers.ts';
import type { ChangeTogether } from '../../../policy/settings/serial-change.ts';
import { ApiError } from '../../../api/api-error.ts';
import type { ChosenSetting } from '../choices/chosen-settings.ts';
import type { QueriesByName } from '../choices/differences.ts';
import { valuesOfRows } from '../choices/offered-settings.ts';
import type { ImportPlan, PlannedKey } from '../plan/import-plan.ts';
import { addStartingList, mergeDevices } from './asked-things.ts';
import { ImportOutcomes } from './import-outcomes.ts';
import { type ListFile, listFiles, writeFiles } from './kept-lists.ts';
import { type PlannedThing, plannedThings } from './planned-things.ts';

/** Dependencies of an import. */
export interface ApplyParts {
  readonly policy: PolicyChanges;
  /** Clients in memory, which are looked up by address. */
  readonly clients: { takeOver(changed: ChangedClients): void };
  /** Manages list sources. */
  readonly sources: {
    adopt(
      written: readonly StoredSource[],
      isNew: (source: StoredSource) => boolean,
      apply: () => Promise<void>,
    ): Promise<void>;
  };
  readonly catalog: { get(id: string): unknown };
  readonly localNames: { live(): { readonly configRecords: readonly WrittenLocalRecord[] } };
  readonly configuration: {
    change(policy: PolicyChanges, author: Author, values: Values, together: ChangeTogether): Promise<unknown>;
  };
  /** `server.site` of this node. */
  readonly site: () => string;
  /** Name of this node, which stores the files of lists. */
  readonly nodeName: string;
  /** `blocking.list_dirs`; the first one is for files of imported lists. */
  readonly listDirs: () => readonly string[];
}

/** Choices of the user, and data for the remaining decisions. */
export interface ImportChoices {
  readonly settings: readonly ChosenSetting[];
  /** Keys of the plan that already have the planned values. */
  readonly same: readonly PlannedKey[];
  readonly answers: ReadonlyMap<string, string>;
  readonly queries: QueriesByName;
}

/** The stored changes, for steps after the transaction. */
interface Written {
  readonly outcomes: ImportOutcomes;
  readonly sources: readonly StoredSource[];
  readonly stored: StoredChanges;
}

/** Ends the transaction of a dry run. */
class DryRunDone extends Error {
  readonly outcomes: ImportOutcomes;

  constructor(outcomes: ImportOutcomes) {
    super('dry run');
    this.outcomes = outcomes;
  }
}

/** Applies a plan and reports the outcome of each item. */
export async function applyPlan(
  parts: ApplyParts,
  plan: ImportPlan,
  choices: ImportChoices,
  { author, isDryRun }: { readonly author: Author; readonly isDryRun: boolean },
): Promise<ImportReport> {
  const files = await listFiles(plan.lists, parts.listDirs());
  const work = async (tx: Queryable): Promise<Changed<Written>> => {
    const written = await write(tx, parts, { plan, files, choices, author });
    if (isDryRun) throw new DryRunDone(written.outcomes);
    return { result: written, summary: written.outcomes.summary(), outside: written.stored.outside };
  };
  const changed = new Set(files.filter(({ isSame }) => !isSame).map(({ url }) => url));
  const follow = async ({ stored, sources }: Written, apply: () => Promise<void>): Promise<void> => {
    parts.clients.takeOver(stored);
    await writeFiles(files);
    await parts.sources.adopt(sources, ({ url }) => changed.has(url), apply);
  };
  const values = valuesOfRows(choices.settings.filter(({ isSelected }) => isSelected));
  const hasSettings = Object.keys(values).length > 0;
  try {
    const { result, revision } =
      hasSettings && !isDryRun
        ? await changeWithSettings(parts, author, values, { work, follow })
        : await parts.policy.changeWithRevision(author, work, follow);
    return result.outcomes.report(false, revision, choices.queries);
  } catch (error) {
    if (error instanceof DryRunDone) return error.outcomes.report(true, null, choices.queries);
    if (!hasSettings || !isRefusal(error)) throw error;
    // The configuration cannot be changed now: the rest of the file is imported anyway.
    const settings = choices.settings.map((setting) =>
      setting.isSelected ? { ...setting, isSelected: false, reason: plainReason(error.message) } : setting,
    );
    return applyPlan(parts, plan, { ...choices, settings }, { author, isDryRun });
  }
}

/** Changes the policy and, like PATCH /config, the configuration, in one transaction and revision. */
async function changeWithSettings(
  { configuration, policy }: ApplyParts,
  author: Author,
  values: Values,
  { work, follow }: { readonly work: ChangeWork<Written>; readonly follow: Follow<Written> },
): Promise<Recorded<Written>> {
  let revision: number | null = null;
  let written: Written | undefined;
  const noting = {
    ...author,
    onRevision: (id: number): void => {
      revision = id;
      author.onRevision?.(id);
    },
  };
  await configuration.change(policy, noting, values, {
    work: async (tx) => {
      const changed = await work(tx);
      written = changed.result;
      return { ...changed, result: null };
    },
    follow: (apply) => follow(written!, apply),
  });
  return { result: written!, revision };
}

/** Whether the configuration, not the database, refused the change. */
function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 409);
}

async function write(
  tx: Queryable,
  parts: ApplyParts,
  {
    plan,
    files,
    choices,
    author,
  }: {
    readonly plan: ImportPlan;
    readonly files: readonly ListFile[];
    readonly choices: ImportChoices;
    readonly author: Author;
  },
): Promise<Written> {
  const outcomes = new ImportOutcomes(plan, choices.settings, choices.same);
  const current = await readKinds(
    tx,
    KINDS.filter(({ name }) => READ.has(name)),
    null,
  );
  const custom = new Set(current.get('custom_services')!.map(({ service_id: id }) => id));
  const isService = (id: string): boolean => parts.catalog.get(id) !== undefined || custom.has(id);
  const { configRecords } = parts.localNames.live();
  const things = plannedThings(plan, { current, files, configRecords, isService }, outcomes);
  await mergeDevices(tx, { plan, things, current, outcomes, site: parts.site(), answers: choices.answers });
  await addStartingList(tx, { plan, things, current, outcomes, answers: choices.answers });
  const itemsOf = (of: readonly PlannedThing[]): Item[] => of.map(({ item }) => item);
  const merge = mergeItems(current, new Map([...things].map(([kind, of]) => [kind, itemsOf(of)])));
  const stored = await storeChanges(tx, merge.changes, (refused) =>
    disableRefused(tx, refused, { merge, things, outcomes }),
  );
  noteOutcomes(outcomes, merge, things);
  const sources = await changedSources(tx, { merge, files, outcomes, nodeName: parts.nodeName });
  await pauseBlocking(tx, plan, author, outcomes);
  return { outcomes, sources, stored };
}

/** Pauses blocking according to the plan, unless the end of the pause has passed. */
async function pauseBlocking(
  tx: Queryable,
  { pause }: ImportPlan,
  author: Author,
  outcomes: ImportOutcomes,
): Promise<void> {
  if (pause === null) return;
  const until = new Date(pause.until);
  const before = await readBlockingSwitch(tx);
  const isPaused = before?.enabled === false && before.until?.getTime() === until.getTime();
  outcomes.note(pause.items, isPaused ? 'same' : 'changed');
  if (!isPaused) await storeBlockingSwitch(tx, author, { enabled: false, until });
}

const READ: ReadonlySet<string> = new Set([...MERGED_KINDS.map(({ name }) => name), 'custom_services']);

type Things = ReadonlyMap<MergedKind, readonly PlannedThing[]>;

function noteOutcomes(outcomes: ImportOutcomes, merge: Merge, things: Things): void {
  for (const [kind, of] of things)
    for (const [index, { origin }] of of.entries()) {
      const { item, outcome } = merge.things.get(kind)![index]!;
      outcomes.note(origin, kind === 'configuration' ? outcomeOfSetting(outcome, item) : outcome);
      const isFetched = kind === 'list_sources' && item['text'] === null && item['enabled'] === true;
      if (isFetched && outcome !== 'same' && !String(item['url']).startsWith('file:'))
        outcomes.remark(origin, importReason('fetched_later'));
    }
}

/** A setting without a row has its default: off, or empty. */
function outcomeOfSetting<Outcome>(
  outcome: Outcome | 'created',
  { value }: Item,
): Outcome | 'same' | 'changed' {
  if (outcome !== 'created') return outcome;
  return value === false || value === '' ? 'same' : 'changed';
}

/** The list sources that are new, or whose row or file differs. */
async function changedSources(
  tx: Queryable,
  {
    merge,
    files,
    outcomes,
    nodeName,
  }: { merge: Merge; files: readonly ListFile[]; outcomes: ImportOutcomes; nodeName: string },
): Promise<StoredSource[]> {
  const changed = new Set<string>();
  for (const { item, outcome } of merge.things.get('list_sources')!)
    if (outcome !== 'same') changed.add(`${String(item['kind'])} ${String(item['url'])}`);
  for (const { source, url, isSame, items } of files) {
    if (isSame) continue;
    const key = `${source.kind} ${url}`;
    if (!changed.has(key)) outcomes.note(items, 'changed');
    changed.add(key);
  }
  if (changed.size === 0) return [];
  const sources = (await listSources(tx)).filter(({ kind, url }) => changed.has(`${kind} ${url}`));
  const urls = new Set(files.map(({ url }) => url));
  // Record this node as the only one that has the file.
  for (const { id, url } of sources)
    if (urls.has(url)) await recordFacts(tx, id, url, { fileNode: nodeName });
  return sources;
}

/** A filter of the plan that exceeds the shared budget of all filters is kept, but disabled. */
async function disableRefused(
  tx: Queryable,
  refused: readonly RefusedFilter[],
  { merge, things, outcomes }: { merge: Merge; things: Things; outcomes: ImportOutcomes },
): Promise<void> {
  const kind = KINDS.find(({ name }) => name === 'regex_filters')!;
  const merged = merge.things.get('regex_filters')!;
  const places = new Map(merged.map(({ item }, index) => [keyOf(kind, item), index]));
  const names = new Map((await listGroups(tx)).map(({ id, name }) => [id, name]));
  for (const { id, pattern, reason } of refused) {
    const { action, group_id: groupId } = await readRule(tx, REGEX_FILTERS, id);
    const group = groupId === null ? null : names.get(groupId);
    const place = places.get(keyOf(kind, { pattern, action, group }));
    if (place === undefined) continue;
    await updateRule(tx, REGEX_FILTERS, id, { enabled: false });
    outcomes.remark(things.get('regex_filters')![place]!.origin, importReason('disabled', { reason }));
  }
}
