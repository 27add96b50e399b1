/**
 * Queries an imported policy: the rows of a real database in a real pipeline. Fetched lists come from the test, custom
 * rules from the database, and other lists from the files that the import wrote.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Database } from '../../../control-plane/storage/db/database.ts';
import { readText } from '../../../control-plane/storage/cluster/blob-store.ts';
import { listSources, type StoredSource } from '../../../control-plane/lists/sources/source-store.ts';
import { readPolicyRows } from '../../../control-plane/policy/change/policy-store.ts';
import { ServiceCatalog } from '../../../control-plane/filtering/services/service-catalog.ts';
import { NO_POLICY_ROWS } from '../../../control-plane/policy/change/rows.ts';
import { dnsSettings } from '../../../control-plane/policy/settings/dns-settings.ts';
import { nameRules } from '../../../control-plane/policy/snapshot/build/name-rules-builder.ts';
import { ZoneNumbers } from '../../../control-plane/policy/snapshot/build/zone-numbers.ts';
import { testConfig } from './test-config.ts';
import { type AskedName, PolicyPipeline, sent } from './policy-pipeline.ts';

/** Result of a question: its status, and the answer unless it is forwarded. */
export interface Outcome {
  readonly status: string;
  readonly answer: unknown;
}

/** Activates the policy of the database and returns a function that queries it. */
export async function importedPolicy(
  database: Database,
  texts: Readonly<Record<string, string>>,
): Promise<(client: string, name: string, qtype?: number) => Outcome> {
  const catalog = new ServiceCatalog('/nowhere');
  const { sources: _sources, ...rows } = await readPolicyRows(database, (id) => catalog.find(id));
  const textOf = async ({ url, has_text: isCustom, contentKey }: StoredSource): Promise<string | Buffer> => {
    if (isCustom) return (await readText(database, contentKey!))!;
    return url.startsWith('file:') ? readFileSync(fileURLToPath(url)) : (texts[url] ?? '');
  };
  const lists = await Promise.all(
    (await listSources(database))
      .filter(({ enabled }) => enabled)
      .map(async (source) => ({
        text: await textOf(source),
        reading: { kind: source.kind, subdomains: source.subdomains, isCustom: source.has_text },
        groupIds: source.group_ids,
      })),
  );
  const pipeline = new PolicyPipeline();
  const config = testConfig();
  const names = nameRules({ ...NO_POLICY_ROWS, ...rows }, dnsSettings(config), config, new ZoneNumbers());
  pipeline.use(lists, rows, { names });
  return (client, name, qtype = 1) => {
    const asked: AskedName = pipeline.ask(name, qtype, client);
    // A question that the pipeline does not answer would be forwarded.
    const isAnswered = asked.query.replyLength > 0;
    return { status: isAnswered ? asked.status : 'FORWARDED', answer: isAnswered ? sent(asked) : null };
  };
}
