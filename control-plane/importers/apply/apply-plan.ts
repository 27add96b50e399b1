/**
 * Writes a plan into Weir: in one transaction, with one revision, and in force when the promise resolves. A second time
 * changes nothing. A dry run does the same and rolls back.
 */
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import type { Author } from '../../api/caller.ts';
import type { Queryable } from '../../db/database.ts';
import type { StoredSource } from '../../lists/sources/source-store.ts';
import type { Changed } from '../../policy/change.ts';
import type { ImportPlan } from '../plan/import-plan.ts';
import { applyClients, type WrittenClient } from './apply-clients.ts';
import { applyGroups } from './apply-groups.ts';
import { applyRecords, applySettings } from './apply-names.ts';
import { applyRules } from './apply-rules.ts';
import { applySafeSearch, applyServices } from './apply-services.ts';
import { applySources } from './apply-sources.ts';
import { applySubnets } from './apply-subnets.ts';
import { applyZones } from './apply-zones.ts';
import { keyText } from './configuration-text.ts';
import type { ApplyParts } from './apply-parts.ts';
import { applyLists, type ListFile, listFiles, writeFiles } from './kept-lists.ts';
import { reportOf, summaryOf } from './import-report.ts';
import { ImportRun } from './planned-state.ts';

/** What was written, for what follows the transaction. */
interface Written {
  readonly run: ImportRun;
  readonly sources: readonly StoredSource[];
  readonly clients: readonly WrittenClient[];
}

/** Ends the transaction of a dry run. */
class DryRunDone extends Error {
  readonly written: Written;

  constructor(written: Written) {
    super('dry run');
    this.written = written;
  }
}

/** Applies a plan and reports what became of each item. */
export async function applyPlan(
  parts: ApplyParts,
  plan: ImportPlan,
  author: Author,
  isDryRun: boolean,
): Promise<ImportReport> {
  const files = await listFiles(plan, parts.listDirs());
  const work = async (tx: Queryable): Promise<Changed<Written>> => {
    const written = await write(tx, parts, plan, files);
    if (isDryRun) throw new DryRunDone(written);
    const summary = written.run.hasChanged() ? summaryOf(written.run) : null;
    return { result: written, summary, outside: written.clients.flatMap(({ rows }) => rows) };
  };
  const follow = (written: Written, apply: () => Promise<void>): Promise<void> =>
    putIntoForce(parts, written, files, apply);
  try {
    const { result, revision } = await parts.policy.changeWithRevision(author, work, follow);
    return reportOf(result.run, false, revision);
  } catch (error) {
    if (error instanceof DryRunDone) return reportOf(error.written.run, true, null);
    throw error;
  }
}

async function write(
  tx: Queryable,
  parts: ApplyParts,
  plan: ImportPlan,
  files: readonly ListFile[],
): Promise<Written> {
  const run = new ImportRun(tx, plan);
  await applyGroups(run);
  const sources = await applySources(run);
  sources.push(...(await applyLists(run, files, parts.nodeName)));
  await applyRules(run);
  await applyRecords(run, parts.localNames.live().configRecords);
  await applyZones(run);
  const clients = await applyClients(run);
  await applySubnets(run);
  await applyServices(run, (id) => parts.catalog.get(id) !== undefined);
  await applySafeSearch(run);
  await applySettings(run);
  for (const key of plan.keys) run.refuse(key, keyText(key));
  return { run, sources, clients };
}

async function putIntoForce(
  parts: ApplyParts,
  { clients, sources }: Written,
  files: readonly ListFile[],
  apply: () => Promise<void>,
): Promise<void> {
  for (const { client } of clients) parts.clients.put(client);
  const urls = await writeFiles(files);
  await parts.sources.takeUp(sources, ({ url }) => urls.has(url), apply);
}
