/** The list that a new installation starts with, so that Weir blocks something before anyone configures it. */
import { forgetChanges } from '../../policy/change/noted-now.ts';
import type { Database } from '../../storage/db/database.ts';
import { insertSource } from './source-store.ts';

/** URL of the list. An import asks whether it should stay. */
export const FIRST_SOURCE_URL = 'https://raw.githubusercontent.com/StevenBlack/hosts/master/hosts';

/** A unified ads and malware list, MIT licence, kept since 2012 and read by every peer's users. */
const FIRST_SOURCE = {
  name: 'StevenBlack unified hosts',
  url: FIRST_SOURCE_URL,
  enabled: true,
  comment: 'ads and malware; put in by the first start',
  subdomains: false,
  group_ids: [],
} as const;

/** Puts the list in once in the life of a database; removing it is for good. */
export async function seedFirstSource(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `INSERT INTO meta (key, value) VALUES ('first_source_seeded', 'true') ON CONFLICT (key) DO NOTHING`,
    );
    if (rowCount !== 1) return;
    await insertSource(tx, 'block', { ...FIRST_SOURCE, group_ids: [] });
    await forgetChanges(tx);
  });
}
