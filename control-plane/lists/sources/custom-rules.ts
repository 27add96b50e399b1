/**
 * Custom rules: lists that users write themselves. The text is stored under a key that is derived from its content,
 * like the copy of any list, so that revisions, other nodes and rollbacks can refer to it. A changed text is already
 * active when the response is sent. It only becomes a held update if a new release interprets it differently, see
 * `recheck-copy.ts`.
 */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { codedAction } from '../../../shared/policy/changes/change-codes.ts';
import type { SourceCreate } from '../../../shared/api/policy/sources-api.ts';
import type { TextVerdict } from '../../../shared/api/policy/custom-text-api.ts';
import { type SourceKind, TEXT_URL } from '../../../shared/policy/source-kind.ts';
import { invalid, notFound, preconditionFailed } from '../../api/api-error.ts';
import type { Author } from '../../api/caller.ts';
import { type PackedText, packText, readText, storeText } from '../../storage/cluster/blob-store.ts';
import { inspectShortText, SHORT_TEXT_BYTES } from '../../policy/compile/table/short-text.ts';
import type { ListInspection } from '../../policy/compile/table/compile-job.ts';
import { CompileError } from '../../policy/compile/table/compile-pool.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { Changed, PolicyChanges } from '../../policy/change/change.ts';
import { dropUnneededBlobs } from '../../policy/change/revision-store.ts';
import { findingsOf } from './list-guard.ts';
import type { ActivationParts, ActiveLists } from './active-lists.ts';
import { insertSource, readSource, recordFacts, type StoredSource } from './source-store.ts';
import { listChange } from './source-records.ts';

/** Dependencies of `CustomRules`. */
export interface CustomRulesParts extends Pick<
  ActivationParts,
  'cache' | 'clock' | 'database' | 'pool' | 'refused'
> {
  readonly changes: PolicyChanges;
  readonly active: Pick<ActiveLists, 'chooseCopies' | 'compileFor' | 'needsCompile'>;
}

/** A text, and the key of its content. */
export interface CustomText {
  readonly text: string;
  readonly contentKey: string;
}

/** Result of storing a text, with the key of its content. */
export interface WrittenText extends TextVerdict {
  readonly contentKey: string;
}

/** Keeps the texts. */
export class CustomRules {
  private readonly parts: CustomRulesParts;

  constructor(parts: CustomRulesParts) {
    this.parts = parts;
  }

  /** Stores new custom rules, which are active when the promise resolves. Throws 400 for an unknown group. */
  async create(
    kind: SourceKind,
    source: Omit<SourceCreate, 'url' | 'text'>,
    text: string,
    author: Author,
  ): Promise<StoredSource> {
    const inspection = await this.inspect(text, { kind, ...source });
    const packed = await packText(text);
    const work = async (tx: Queryable): Promise<Changed<StoredSource>> => {
      const inserted = await insertSource(tx, kind, { ...source, url: TEXT_URL + randomUUID() });
      const result = await this.store(tx, inserted, packed, inspection);
      return { result, summary: listChange({ kind, name: result.name }, codedAction('created')) };
    };
    return this.parts.changes.change(author, work, (stored, apply) => this.activate(stored, apply));
  }

  /** The text of custom rules; throws 404 for a list that is fetched. */
  async read(kind: SourceKind, id: number): Promise<CustomText> {
    const { database } = this.parts;
    const contentKey = textKeyOf(await this.find(database, kind, id));
    const text = contentKey === null ? null : await readText(database, contentKey);
    if (contentKey === null || text === null) throw notFound(`the text of ${kind}list source ${id}`);
    return { text, contentKey };
  }

  /** The effect that a text would have; nothing is stored. */
  async preview(kind: SourceKind, id: number, text: string): Promise<TextVerdict> {
    const { statistics } = await this.inspect(text, await this.find(this.parts.database, kind, id));
    return verdictOf(statistics);
  }

  /**
   * Replaces the text; the new text is active when the promise resolves. Throws 412 if the key of the stored text is
   * not in `expected` (null = any key).
   */
  async write(
    kind: SourceKind,
    id: number,
    text: string,
    { author, expected }: { readonly author: Author; readonly expected: readonly string[] | null },
  ): Promise<WrittenText> {
    const { database, changes } = this.parts;
    const inspection = await this.inspect(text, await this.find(database, kind, id));
    const packed = await packText(text);
    const work = async (tx: Queryable): Promise<Changed<StoredSource>> => {
      const before = await this.find(tx, kind, id);
      if (expected !== null && !expected.includes(textKeyOf(before) ?? ''))
        throw preconditionFailed(`the text of ${kind}list source ${id} has changed since it was read`);
      const result = await this.store(tx, before, packed, inspection);
      return { result, summary: listChange(before, codedAction('rules_changed')) };
    };
    await changes.change(author, work, (stored, apply) => this.activate(stored, apply));
    return { ...verdictOf(inspection.statistics), contentKey: packed.key };
  }

  private async find(db: Queryable, kind: SourceKind, id: number): Promise<StoredSource> {
    const source = await readSource(db, id, kind);
    if (!source.has_text) throw notFound(`the text of ${kind}list source ${id}, which is fetched,`);
    return source;
  }

  /** Counts the rules of a text. Throws 400 if reading it takes too much time or memory. */
  private async inspect(
    text: string,
    { kind, subdomains }: Pick<StoredSource, 'kind' | 'subdomains'>,
  ): Promise<ListInspection> {
    const { cache, pool } = this.parts;
    await cache.open();
    const path = cache.temporaryPath();
    try {
      await writeFile(path, text, { flag: 'wx', mode: 0o600 });
      const list = { path, reading: { kind, subdomains, isCustom: true } };
      const isShort = Buffer.byteLength(text) <= SHORT_TEXT_BYTES;
      return (isShort ? await inspectShortText(list) : undefined) ?? (await pool.inspect(list, []));
    } catch (error) {
      if (!(error instanceof CompileError) || error.list === null) throw error;
      throw invalid([{ path: '', message: error.message }]);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Writes a text and assigns it to the source. */
  private async store(
    tx: Queryable,
    { id, url }: StoredSource,
    packed: PackedText,
    inspection: ListInspection,
  ): Promise<StoredSource> {
    const { key: contentKey, bytes } = packed;
    await storeText(tx, packed);
    const lastChangedAt = new Date(this.parts.clock.nowMs());
    const { rules, invalidLines, format } = inspection.statistics;
    const counts = { rules, invalidLines, format, bytes };
    const judged = findingsOf(contentKey, inspection);
    await recordFacts(tx, id, url, {
      ...counts,
      contentKey,
      heldKey: null,
      judged,
      status: 'ok',
      lastChangedAt,
      lastError: null,
    });
    await dropUnneededBlobs(tx);
    return readSource(tx, id);
  }

  private async activate(source: StoredSource, apply: () => Promise<void>): Promise<void> {
    const { active, refused } = this.parts;
    refused.remove(source.id);
    const [chosen = source] = await active.chooseCopies([source.id]);
    if (!active.needsCompile(chosen)) return apply();
    return active.compileFor(chosen, chosen.contentKey ?? undefined);
  }
}

/** Content key of the text, which may be active or held. */
function textKeyOf({ contentKey, heldKey }: StoredSource): string | null {
  return contentKey ?? heldKey;
}

function verdictOf({ rules, invalidSamples, skippedSamples }: ListInspection['statistics']): TextVerdict {
  const refused = [...invalidSamples, ...skippedSamples].map(({ line, reason }) => ({ line, reason }));
  return { rules, refused: refused.sort((one, other) => one.line - other.line) };
}
