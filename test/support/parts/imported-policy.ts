/**
 * Asks what was imported: the rows of a real database in force in a real pipeline. The texts of fetched lists come from
 * the test, those of generated ones from the files that the import wrote.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../control-plane/db/database.ts';
import { listSources } from '../../../control-plane/lists/sources/source-store.ts';
import { readPolicyRows } from '../../../control-plane/policy/policy-store.ts';
import { ServiceCatalog } from '../../../control-plane/services/service-catalog.ts';
import { type AskedName, PolicyPipeline, sent } from './policy-pipeline.ts';

/** What a question comes to: the status, and where it is answered here, the answer. */
export interface Outcome {
  readonly status: string;
  readonly answer: unknown;
}

/** Puts the database's policy into force and returns who answers. */
export async function importedPolicy(
  database: Database,
  texts: Readonly<Record<string, string>>,
): Promise<(client: string, name: string, qtype?: number) => Outcome> {
  const catalog = new ServiceCatalog('/nowhere');
  const { sources: _sources, ...rows } = await readPolicyRows(database, (id) => catalog.find(id));
  const lists = (await listSources(database))
    .filter(({ enabled }) => enabled)
    .map(({ kind, url, group_ids: groupIds, subdomains }) => ({
      text: url.startsWith('file:') ? readFileSync(fileURLToPath(url)) : (texts[url] ?? ''),
      reading: { kind, subdomains },
      groupIds,
    }));
  const pipeline = new PolicyPipeline();
  pipeline.use(lists, rows);
  return (client, name, qtype = 1) => {
    const asked: AskedName = pipeline.ask(name, qtype, client);
    // What is not answered here would be forwarded.
    const isAnswered = asked.query.replyLength > 0;
    return { status: isAnswered ? asked.status : 'FORWARDED', answer: isAnswered ? sent(asked) : null };
  };
}
