/** The list of a new installation, so that Weir blocks ads even without configuration. */
import { deleteChanges } from '../../policy/change/noted-now.ts';
import type { Database } from '../../storage/db/database.ts';
import { insertSource } from './source-store.ts';

/** URL of the list. An import asks whether to keep it. */
export const FIRST_SOURCE_URL = 'https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts';

/** A unified list of ads and malware, MIT licence, maintained since 2012 and widely used. */
const FIRST_SOURCE = {
  name: 'StevenBlack unified hosts',
  url: FIRST_SOURCE_URL,
  enabled: true,
  comment: 'ads and malware; added at the first start',
  subdomains: false,
  group_ids: [],
} as const;

/** Adds the list once per database; if a user deletes it, it is not added again. */
export async function seedFirstSource(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true') ON CONFLICT (key) DO NOTHING`,
    );
    if (rowCount !== 1) return;
    await insertSource(tx, 'block', { ...FIRST_SOURCE, group_ids: [] });
    await deleteChanges(tx);
  });
}
