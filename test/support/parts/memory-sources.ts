/** List sources in memory, which replace `ListSources` in tests of HTTP. */
import { createHash } from 'node:crypto';
import { conflict, notFound, preconditionFailed } from '../../../control-plane/api/api-error.ts';
import type { Author } from '../../../control-plane/api/caller.ts';
import type { Queryable } from '../../../control-plane/storage/db/database.ts';
import type { SourceLife } from '../../../control-plane/lists/sources/source-routes.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import type {
  BlocklistSource,
  SourceCreate,
  SourceUpdate,
  UnusedLine,
} from '../../../shared/api/policy/sources-api.ts';

/** Details of every held update. */
const HELD = { reason: 'shrank', rules: 4, rules_in_force: 10, names: [], name_count: 0 } as const;

/** Stand-in for a transaction, because this class uses no database. */
const NO_TRANSACTION = {} as Queryable;

/** Stores sources in a map, and reports the same conflicts as `ListSources`. */
export class MemorySources implements SourceLife {
  private readonly byId = new Map<number, BlocklistSource>();
  private readonly kinds = new Map<number, SourceKind>();
  private readonly texts = new Map<number, string>();
  private nextId = 1;

  readonly custom: SourceLife['custom'] = {
    read: async (kind, id) => ({
      text: await this.textOf(kind, id),
      contentKey: keyOf(await this.textOf(kind, id)),
    }),
    preview: async (kind, id, text) => {
      await this.textOf(kind, id);
      const { contentKey: _key, ...verdict } = verdictOf(text);
      return verdict;
    },
    write: async (kind, id, text, { expected }) => {
      const key = keyOf(await this.textOf(kind, id));
      if (expected !== null && !expected.includes(key)) throw preconditionFailed('the text has changed');
      this.texts.set(id, text);
      return verdictOf(text);
    },
  };

  async list(kind: SourceKind): Promise<BlocklistSource[]> {
    return [...this.byId.values()].filter(({ id }) => this.kinds.get(id) === kind);
  }

  async read(kind: SourceKind, id: number): Promise<BlocklistSource> {
    const source = this.byId.get(id);
    if (source === undefined || this.kinds.get(id) !== kind) throw notFound(`${kind}list source ${id}`);
    return source;
  }

  async create(kind: SourceKind, { text, url, ...source }: SourceCreate): Promise<BlocklistSource> {
    if (url !== undefined && (await this.list(kind)).some((other) => other.url === url))
      throw conflict(`a source with the URL ${url} already exists`);
    const created: BlocklistSource = {
      id: this.nextId++,
      ...source,
      url: url ?? null,
      has_text: text !== undefined,
      format: null,
      status: 'pending',
      rules: 0,
      invalid_lines: 0,
      bytes: 0,
      etag: null,
      last_checked_at: null,
      last_changed_at: null,
      last_error: null,
      file_node: null,
      held: null,
    };
    if (text !== undefined) this.texts.set(created.id, text);
    this.byId.set(created.id, created);
    this.kinds.set(created.id, kind);
    return created;
  }

  async update(
    kind: SourceKind,
    id: number,
    change: SourceUpdate,
    { precondition }: Author,
  ): Promise<BlocklistSource> {
    const before = await this.read(kind, id);
    await precondition?.(NO_TRANSACTION);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const after = { ...before, ...given };
    if ((await this.list(kind)).some(({ id: other, url }) => other !== id && url === after.url))
      throw conflict(`a source with the URL ${after.url} already exists`);
    this.byId.set(id, after);
    return after;
  }

  async remove(kind: SourceKind, id: number, { precondition }: Author): Promise<void> {
    await this.read(kind, id);
    await precondition?.(NO_TRANSACTION);
    this.byId.delete(id);
  }

  async refresh(kind: SourceKind, id: number): Promise<BlocklistSource> {
    const source = await this.read(kind, id);
    if (source.has_text) throw conflict(`${kind}list source ${id} has custom rules, which are not fetched`);
    return { ...source, status: 'updating' };
  }

  async refreshAll(kind: SourceKind): Promise<BlocklistSource[]> {
    return (await this.list(kind)).map((source) => ({ ...source, status: 'updating' }));
  }

  async approve(kind: SourceKind, id: number): Promise<BlocklistSource> {
    const source = await this.read(kind, id);
    if (source.status !== 'held') throw conflict(`${kind}list source ${id} has no held update`);
    const approved: BlocklistSource = { ...source, status: 'ok', held: null };
    this.byId.set(id, approved);
    return approved;
  }

  async unusedLines(kind: SourceKind, id: number): Promise<UnusedLine[]> {
    await this.read(kind, id);
    return [{ line: 3, reason: 'not a rule', text: 'what is this' }];
  }

  private async textOf(kind: SourceKind, id: number): Promise<string> {
    await this.read(kind, id);
    const text = this.texts.get(id);
    if (text === undefined) throw notFound(`the text of ${kind}list source ${id}`);
    return text;
  }

  /** Gives a source a held update. */
  hold(id: number): void {
    this.byId.set(id, { ...this.byId.get(id)!, status: 'held', held: { ...HELD, names: [] } });
  }
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Lines that start with a question mark are rejected. */
function verdictOf(text: string) {
  const lines = text.split('\n').filter((line) => line !== '');
  const refused = lines.flatMap((line, index) =>
    line.startsWith('?') ? { line: index + 1, reason: 'not a rule' } : [],
  );
  return { rules: lines.length - refused.length, refused, contentKey: keyOf(text) };
}
