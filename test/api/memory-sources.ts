/** Blocklist sources that live in memory: stands behind the port `SourceLife` where HTTP is what is tested. */
import { conflict, notFound } from '../../control-plane/api-error.ts';
import type { SourceLife } from '../../control-plane/lists/source-life-port.ts';
import type { BlocklistSource, SourceCreate, SourceUpdate } from '../../shared/api/sources.ts';

/** Keeps sources in a map, with the conflicts that the real ones have. */
export class MemorySources implements SourceLife {
  private readonly byId = new Map<number, BlocklistSource>();
  private nextId = 1;

  async list(): Promise<BlocklistSource[]> {
    return [...this.byId.values()];
  }

  async read(id: number): Promise<BlocklistSource> {
    const source = this.byId.get(id);
    if (source === undefined) throw notFound(`blocklist source ${id}`);
    return source;
  }

  async create(source: SourceCreate): Promise<BlocklistSource> {
    if ([...this.byId.values()].some(({ url }) => url === source.url))
      throw conflict(`a source with the URL ${source.url} exists already`);
    const created: BlocklistSource = {
      id: this.nextId++,
      ...source,
      format: null,
      status: 'pending',
      rules: 0,
      invalid_lines: 0,
      bytes: 0,
      etag: null,
      last_checked_at: null,
      last_changed_at: null,
      last_error: null,
    };
    this.byId.set(created.id, created);
    return created;
  }

  async update(id: number, change: SourceUpdate): Promise<BlocklistSource> {
    const before = await this.read(id);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const after = { ...before, ...given };
    this.byId.set(id, after);
    return after;
  }

  async remove(id: number): Promise<void> {
    await this.read(id);
    this.byId.delete(id);
  }

  async refresh(id: number): Promise<BlocklistSource> {
    return { ...(await this.read(id)), status: 'updating' };
  }

  async refreshAll(): Promise<BlocklistSource[]> {
    return (await this.list()).map((source) => ({ ...source, status: 'updating' }));
  }
}
