/**
 * SQL of `list_sources`, blocklists and allowlists, and of the groups for which they are active. `list-sources.ts`
 * manages the sources.
 */
import { type SourceKind, TEXT_URL } from '../../../shared/policy/source-kind.ts';
import type { HeldCopy } from '../../../shared/api/policy/held-copy-api.ts';
import type {
  BlocklistSource,
  SourceCreate,
  SourceStatus,
  SourceUpdate,
} from '../../../shared/api/policy/sources-api.ts';
import { shownUrl } from '../../../shared/net/shown-url.ts';
import type { ApiError } from '../../api/api-error.ts';
import { conflict, invalid, notFound } from '../../api/api-error.ts';
import { EXISTS } from '../../storage/cluster/node-figures.ts';
import { isForeignKeyViolation } from '../../storage/db/database-errors.ts';
import type { Queryable } from '../../storage/db/database.ts';

interface SourceRow {
  readonly id: number;
  readonly kind: SourceKind;
  readonly name: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly comment: string | null;
  readonly group_ids: number[];
  readonly subdomains: boolean;
  readonly format: string | null;
  readonly status: SourceStatus;
  readonly rules: number;
  readonly invalid_lines: number;
  /** pg returns `bigint` as text. */
  readonly bytes: string;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly last_checked_at: Date | null;
  readonly last_changed_at: Date | null;
  readonly last_error: string | null;
  readonly content_key: string | null;
  readonly held_key: string | null;
  readonly held: HeldCopy | null;
  readonly judged: CheckFindings | null;
  readonly content_url_key: string | null;
  readonly failures: number;
  readonly file_node: string | null;
  readonly is_kept: boolean;
  readonly has_reader: boolean;
}

/** Result of the guard's check of a copy; `wide_rules` are the first rules that match every name under conditions. */
export interface CheckFindings {
  readonly content_key: string;
  /** `LIST_READING` of the release that checked the copy. */
  readonly reading: number;
  readonly wide_rules: readonly string[];
  /** Share of the address space that the rules of the copy cover, 0 to 1. */
  readonly address_share: number;
}

/** A source with internal fields. */
export interface StoredSource extends Omit<BlocklistSource, 'url'> {
  /** The URL of custom rules consists of `TEXT_URL` and a unique name. */
  readonly url: string;
  /** Header `Last-Modified` as the server sent it. */
  readonly lastModified: string | null;
  readonly kind: SourceKind;
  /** Content key of the active copy, see `list-cache.ts`. */
  readonly contentKey: string | null;
  /** Content key of a newer copy that waits for approval. */
  readonly heldKey: string | null;
  /** Result of the check of a copy, which may be a different copy than that of `contentKey`; null = not checked yet. */
  readonly judged: CheckFindings | null;
  /** Identifies the URL of the copy with `contentKey`. */
  readonly contentUrlKey: string | null;
  /** Whether the copy with `contentKey` is from the current URL and stored in the database. */
  readonly isKept: boolean;
  /** Number of failed fetches since the last successful one, on all nodes. */
  readonly failures: number;
  /** Whether the node of `file_node` exists. */
  readonly hasReader: boolean;
}

/** Data from fetching and compiling a source; absent fields are not changed. */
export interface SourceFacts {
  readonly status?: SourceStatus;
  readonly format?: string;
  readonly rules?: number;
  readonly invalidLines?: number;
  /** Size of the text in bytes. */
  readonly bytes?: number;
  readonly etag?: string | null;
  readonly lastModified?: string | null;
  readonly lastCheckedAt?: Date;
  readonly lastChangedAt?: Date;
  readonly lastError?: string | null;
  /** Null = no copy is active. */
  readonly contentKey?: string | null;
  readonly heldKey?: string | null;
  /** Reason why the copy of `heldKey` is held. */
  readonly held?: HeldCopy;
  /** Result of the check of the copy with `contentKey`. */
  readonly judged?: CheckFindings;
  readonly failures?: number;
  /** Name of the node whose file is used; null = none. */
  readonly fileNode?: string | null;
}

/** A source to store. */
export interface NewSource extends Omit<SourceCreate, 'url' | 'text'> {
  readonly url: string;
}

/** A change to store. */
export interface SourceChange extends Omit<SourceUpdate, 'url'> {
  readonly url?: string | undefined;
}

const GROUP_IDS = `(SELECT coalesce(array_agg(g.group_id ORDER BY g.group_id), '{}')
  FROM list_source_groups g WHERE g.source_id = s.id) AS group_ids`;
const URL_KEY = `left(encode(sha256(convert_to(url, 'UTF8')), 'hex'), 16)`;
const IS_KEPT = `(content_url_key = ${URL_KEY} AND EXISTS (SELECT FROM blobs
  WHERE blobs.content_key = s.content_key AND part = 0)) IS TRUE AS is_kept`;
const HAS_READER = `EXISTS (SELECT FROM nodes n WHERE n.name = s.file_node AND ${EXISTS}) AS has_reader`;
const SELECT = `SELECT s.*, ${GROUP_IDS}, ${IS_KEPT}, ${HAS_READER} FROM list_sources s`;

/** All sources, or those of one kind, oldest first. */
export async function listSources(db: Queryable, kind?: SourceKind): Promise<StoredSource[]> {
  const text = `${SELECT} WHERE $1::text IS NULL OR s.kind = $1 ORDER BY s.id`;
  const { rows } = await db.query<SourceRow>(text, [kind ?? null]);
  return rows.map(toSource);
}

/** One source; throws 404 if it does not exist or is of another kind. */
export async function readSource(db: Queryable, id: number, kind?: SourceKind): Promise<StoredSource> {
  const text = `${SELECT} WHERE s.id = $1 AND ($2::text IS NULL OR s.kind = $2)`;
  const { rows } = await db.query<SourceRow>(text, [id, kind ?? null]);
  if (rows[0] === undefined) throw notFound(`${kind ?? 'block'}list source ${id}`);
  return toSource(rows[0]);
}

/** Stores a new source in the transaction `tx`; throws 409 for a URL in use, 400 for an unknown group. */
export async function insertSource(
  tx: Queryable,
  kind: SourceKind,
  source: NewSource,
): Promise<StoredSource> {
  const text = `INSERT INTO list_sources (kind, name, url, enabled, comment, subdomains)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (kind, url) DO NOTHING RETURNING id`;
  const values = [kind, source.name, source.url, source.enabled, source.comment, source.subdomains];
  const { rows } = await tx.query<{ id: number }>(text, values);
  if (rows[0] === undefined) throw takenUrl(source.url);
  const { id } = rows[0];
  await replaceGroups(tx, id, source.group_ids);
  return readSource(tx, id);
}

/**
 * Changes the given fields in the transaction `tx`; throws 404 for an unknown source, 409 for a URL in use, 400 for an
 * unknown group. If the URL changes, the validators of the old one are removed.
 */
export async function updateSource(
  tx: Queryable,
  kind: SourceKind,
  id: number,
  change: SourceChange,
): Promise<StoredSource> {
  const text = `UPDATE list_sources SET name = coalesce($2, name), url = coalesce($3, url),
    enabled = coalesce($4, enabled), comment = coalesce($5, comment), subdomains = coalesce($6, subdomains),
    etag = CASE WHEN $3 <> url THEN NULL ELSE etag END,
    last_modified = CASE WHEN $3 <> url THEN NULL ELSE last_modified END,
    status = CASE WHEN $3 <> url THEN 'pending' ELSE status END,
    failures = CASE WHEN $3 <> url THEN 0 ELSE failures END,
    file_node = CASE WHEN $3 <> url THEN NULL ELSE file_node END,
    last_error = CASE WHEN $3 <> url THEN NULL ELSE last_error END,
    held_key = CASE WHEN $3 <> url THEN NULL ELSE held_key END,
    held = CASE WHEN $3 <> url THEN NULL ELSE held END,
    updated_at = now() WHERE id = $1 AND kind = $7`;
  const values = [id, change.name, change.url, change.enabled, change.comment, change.subdomains, kind];
  if (change.url !== undefined) await refuseTakenUrl(tx, kind, id, change.url);
  const { rowCount } = await tx.query(text, values);
  if (rowCount === 0) throw notFound(`${kind}list source ${id}`);
  if (change.group_ids !== undefined) await replaceGroups(tx, id, change.group_ids);
  return readSource(tx, id);
}

/** Deletes a source and returns its name; throws 404 if it does not exist. */
export async function deleteSource(db: Queryable, kind: SourceKind, id: number): Promise<string> {
  const text = 'DELETE FROM list_sources WHERE id = $1 AND kind = $2 RETURNING name';
  const { rows } = await db.query<{ name: string }>(text, [id, kind]);
  if (rows[0] === undefined) throw notFound(`${kind}list source ${id}`);
  return rows[0].name;
}

/**
 * Stores data about a source with this URL; returns false if the source no longer exists or, with `copies`, if its
 * active copy or held update is different now.
 */
export async function recordFacts(
  db: Queryable,
  id: number,
  url: string,
  facts: SourceFacts,
  copies?: Pick<StoredSource, 'contentKey' | 'heldKey'>,
): Promise<boolean> {
  const columns: readonly (readonly [string, unknown])[] = [
    ['status', facts.status],
    ['format', facts.format],
    ['rules', facts.rules],
    ['invalid_lines', facts.invalidLines],
    ['bytes', facts.bytes],
    ['etag', facts.etag],
    ['last_modified', facts.lastModified],
    ['last_checked_at', facts.lastCheckedAt],
    ['last_changed_at', facts.lastChangedAt],
    ['last_error', facts.lastError],
    ['content_key', facts.contentKey],
    ['held_key', facts.heldKey],
    ['held', facts.heldKey === null ? null : facts.held],
    ['judged', facts.judged],
    ['failures', facts.failures],
    ['file_node', facts.fileNode],
  ];
  const given = columns.filter(([, value]) => value !== undefined);
  if (given.length === 0) return true;
  const values = [id, url, ...given.map(([, value]) => value)];
  const assignments = given.map(([column], index) => `${column} = $${index + 3}`);
  if (facts.contentKey !== undefined) assignments.push(`content_url_key = ${URL_KEY}`);
  let text = `UPDATE list_sources SET ${assignments.join(', ')} WHERE id = $1 AND url = $2`;
  if (copies !== undefined) {
    values.push(copies.contentKey, copies.heldKey);
    text += ` AND content_key IS NOT DISTINCT FROM $${values.length - 1}`;
    text += ` AND held_key IS NOT DISTINCT FROM $${values.length}`;
  }
  const { rowCount } = await db.query(text, values);
  return rowCount === 1;
}

/** Activates the previous copy again if `refused` is still active; the next fetch then downloads it completely. */
export async function undoContent(tx: Queryable, before: StoredSource, refused: string): Promise<void> {
  const { id, contentKey, contentUrlKey, rules, invalid_lines: invalidLines, format, judged } = before;
  await tx.query(
    `UPDATE list_sources SET content_key = $3, content_url_key = $4, rules = $5, invalid_lines = $6, format = $7,
       judged = $8, etag = NULL, last_modified = NULL WHERE id = $1 AND content_key = $2`,
    [id, refused, contentKey, contentUrlKey, rules, invalidLines, format, judged],
  );
}

async function replaceGroups(tx: Queryable, id: number, groupIds: readonly number[]): Promise<void> {
  await tx.query('DELETE FROM list_source_groups WHERE source_id = $1', [id]);
  if (groupIds.length === 0) return;
  try {
    await tx.query(
      'INSERT INTO list_source_groups (source_id, group_id) SELECT $1::integer, unnest($2::integer[])',
      [id, groupIds],
    );
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw invalid([{ path: 'group_ids', message: 'expected ids of existing groups' }]);
    throw error;
  }
}

/**
 * Checks whether a URL is in use before the unique index does, because PostgreSQL logs violating values, and a URL may
 * contain credentials.
 */
async function refuseTakenUrl(tx: Queryable, kind: SourceKind, id: number, url: string): Promise<void> {
  const text = 'SELECT 1 FROM list_sources WHERE kind = $1 AND url = $2 AND id <> $3';
  if ((await tx.query(text, [kind, url, id])).rows.length > 0) throw takenUrl(url);
}

function takenUrl(url: string): ApiError {
  return conflict(`a source with the URL ${shownUrl(url)} already exists`);
}

function toSource(row: SourceRow): StoredSource {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    has_text: row.url.startsWith(TEXT_URL),
    enabled: row.enabled,
    comment: row.comment ?? '',
    group_ids: row.group_ids,
    subdomains: row.subdomains,
    format: row.format,
    status: row.status,
    rules: row.rules,
    invalid_lines: row.invalid_lines,
    bytes: Number(row.bytes),
    etag: row.etag,
    last_checked_at: row.last_checked_at?.toISOString() ?? null,
    last_changed_at: row.last_changed_at?.toISOString() ?? null,
    last_error: row.last_error,
    held: row.held_key === null ? null : row.held,
    lastModified: row.last_modified,
    kind: row.kind,
    contentKey: row.content_key,
    heldKey: row.held_key,
    judged: row.judged,
    contentUrlKey: row.content_url_key,
    isKept: row.is_kept,
    failures: row.failures,
    file_node: row.file_node,
    hasReader: row.has_reader,
  };
}
