/** List sources in a backup: the database stores the texts of custom rules separately, by their content. */
import { TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { LIST_READING } from '../../policy/compile/parse/list-statistics.ts';
import { packText, readText, storeText } from '../../storage/cluster/blob-store.ts';
import type { Queryable } from '../../storage/db/database.ts';
import { type BackupKind, type Item, items } from './backup-kind.ts';

const SOURCE = items(
  'kind text, name text, url text, enabled boolean, comment text, subdomains boolean, text text, bytes integer, groups text[]',
);
const IS_SOURCE = 's.kind = v.kind AND s.url = v.url';
const URL_KEY = `left(encode(sha256(convert_to(v.url, 'UTF8')), 'hex'), 16)`;
/** Custom rules are active immediately, because a user supplies them. */
const WRITTEN = `jsonb_build_object('content_key', v.text, 'reading', ${LIST_READING}, 'wide_rules', '[]'::jsonb,
  'address_share', 0)`;

/** List sources; custom rules with their texts. */
export const sources: BackupKind = {
  name: 'list_sources',
  key: ['kind', 'url'],
  read: `SELECT s.kind, s.name, s.url, s.enabled, coalesce(s.comment, '') AS comment, s.subdomains,
      CASE WHEN starts_with(s.url, '${TEXT_URL}') THEN coalesce(s.content_key, s.held_key) END AS text,
      ARRAY(SELECT g.name FROM list_source_groups l JOIN groups g ON g.id = l.group_id WHERE l.source_id = s.id) AS groups
    FROM list_sources s ORDER BY s.id`,
  complete: readTexts,
  prepare: storeTexts,
  put: [
    `INSERT INTO list_sources (kind, name, url, enabled, comment, subdomains, status, content_key, content_url_key, judged, bytes)
     SELECT v.kind, v.name, v.url, v.enabled, v.comment, v.subdomains,
       CASE WHEN v.text IS NULL THEN 'pending' ELSE 'ok' END, v.text, CASE WHEN v.text IS NOT NULL THEN ${URL_KEY} END,
       CASE WHEN v.text IS NOT NULL THEN ${WRITTEN} END, coalesce(v.bytes, 0)
     FROM ${SOURCE}
     ON CONFLICT (kind, url) DO UPDATE SET name = excluded.name, enabled = excluded.enabled,
       comment = excluded.comment, subdomains = excluded.subdomains, updated_at = now(),
       content_key = coalesce(excluded.content_key, list_sources.content_key),
       content_url_key = coalesce(excluded.content_url_key, list_sources.content_url_key),
       judged = coalesce(excluded.judged, list_sources.judged),
       bytes = CASE WHEN excluded.content_key IS NULL THEN list_sources.bytes ELSE excluded.bytes END,
       held_key = CASE WHEN excluded.content_key IS NULL THEN list_sources.held_key END,
       status = CASE WHEN excluded.content_key IS NULL THEN list_sources.status ELSE 'ok' END,
       last_error = CASE WHEN excluded.content_key IS NULL THEN list_sources.last_error END`,
    `DELETE FROM list_source_groups l USING list_sources s, ${SOURCE} WHERE l.source_id = s.id AND ${IS_SOURCE}`,
    `INSERT INTO list_source_groups (source_id, group_id)
     SELECT s.id, g.id FROM ${SOURCE} JOIN list_sources s ON ${IS_SOURCE} JOIN groups g ON g.name = ANY (v.groups)`,
  ],
  remove: [`DELETE FROM list_sources s USING ${SOURCE} WHERE ${IS_SOURCE}`],
};

/** Replaces the content keys of custom rules with their texts. */
async function readTexts(tx: Queryable, items: readonly Item[]): Promise<Item[]> {
  return mapTexts(items, async (key) => ({ text: await readText(tx, key) }));
}

/** Stores the texts of custom rules and replaces them with their content keys. */
async function storeTexts(tx: Queryable, items: readonly Item[]): Promise<Item[]> {
  return mapTexts(items, async (text) => {
    const packed = await packText(text);
    await storeText(tx, packed);
    return { text: packed.key, bytes: packed.bytes };
  });
}

async function mapTexts(items: readonly Item[], change: (text: string) => Promise<Item>): Promise<Item[]> {
  const changed: Item[] = [];
  for (const item of items) {
    const { text } = item;
    changed.push(typeof text === 'string' ? { ...item, ...(await change(text)) } : item);
  }
  return changed;
}
