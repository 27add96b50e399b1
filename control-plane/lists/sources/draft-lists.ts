/**
 * Compiles the lists of a draft for a simulation, together with the active lists, into a rule table that is not
 * published. Only temporary files are written, and they are deleted afterwards.
 */
import { rm, writeFile } from 'node:fs/promises';
import type { SimulateBody } from '../../../shared/api/policy/simulate-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { ApiError, dependencyUnavailable, invalid } from '../../api/api-error.ts';
import { type CompiledRules, seedsOf } from '../../policy/compile/table/compiled-rules.ts';
import { contentKeyOf, inputKeyOf, readingOfInput } from '../../policy/compile/table/input-key.ts';
import { CompileError, type CompilePool } from '../../policy/compile/table/compile-pool.ts';
import type { ListFile } from '../../policy/compile/table/compile-job.ts';
import type { Queryable } from '../../storage/db/database.ts';
import type { PolicySource } from '../../policy/change/rows.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import type { FetchLimits } from '../fetch/fetch-limits.ts';
import { fetchList } from '../fetch/fetch-list.ts';
import { ListError } from '../fetch/list-error.ts';
import type { FetchBounds, Lookup } from '../fetch/list-host.ts';
import type { ListCache } from './list-cache.ts';
import { readingOf, TEXT_BYTES_PER_NAME } from './list-compiler.ts';
import { refuseOtherFolders } from './list-folder.ts';
import type { SharedCopies } from './shared-copies.ts';
import { refuseMasks } from './source-credentials.ts';
import { listSources, type StoredSource } from './source-store.ts';

/** Dependencies for fetching lists that are not saved. */
export interface UnsavedListParts {
  readonly listDirs: () => readonly string[];
  readonly bounds: FetchBounds;
  readonly lookup?: Lookup;
}

export interface DraftListsParts extends UnsavedListParts {
  readonly database: Queryable;
  readonly cache: ListCache;
  readonly copies: Pick<SharedCopies, 'bring'>;
  readonly pool: CompilePool;
  readonly current: () => PublishedState;
  readonly clock: Clock;
}

/** The lists of a draft. */
export type ListsOfDraft = SimulateBody['lists'];
type AddedList = ListsOfDraft['add'][number];

/** A compiled draft. */
export interface DraftedLists {
  /** State that was active when the draft was compiled, and with which the draft is compared. */
  readonly base: PublishedState;
  readonly compiled: CompiledRules;
  readonly sources: readonly PolicySource[];
  /** Results for the lists to add, in order. */
  readonly added: readonly { readonly name: string; readonly rules: number; readonly invalidLines: number }[];
}

/** A list from which the table is compiled. */
interface Input extends ListFile {
  readonly id: number;
  readonly inputKey: string;
}

/** A list of the draft. */
interface Added {
  readonly row: PolicySource;
  readonly input: Input;
  readonly bytes: number;
}

/** Creates the rule table of a draft. */
export class DraftLists {
  private readonly parts: DraftListsParts;

  constructor(parts: DraftListsParts) {
    this.parts = parts;
  }

  /**
   * The rules and sources of a draft.
   * @throws {ApiError} 400 if a list cannot be used, 503 if an active copy is not on disk
   */
  async make(lists: ListsOfDraft, signal: AbortSignal): Promise<DraftedLists> {
    const base = this.parts.current();
    const { compiled, rows } = base;
    const isKept = this.keptSources(lists, rows.sources);
    if (lists.add.length === 0) return { base, compiled, sources: rows.sources.filter(isKept), added: [] };
    await this.parts.cache.open();
    const stored = await listSources(this.parts.database);
    const temporary: string[] = [];
    try {
      const added: Added[] = [];
      for (const [place, list] of lists.add.entries())
        added.push(await this.prepare(list, { place, stored, temporary, signal }));
      return await this.compile(base, rows.sources.filter(isKept), added, signal);
    } finally {
      for (const path of temporary) await rm(path, { force: true });
    }
  }

  private keptSources({ drop }: ListsOfDraft, sources: readonly PolicySource[]) {
    const known = new Set(sources.map(({ id }) => id));
    const faults = drop.flatMap((id, index) =>
      known.has(id) ? [] : { path: `lists.drop.${index}`, message: 'expected the id of a source' },
    );
    if (faults.length > 0) throw invalid(faults);
    const dropped = new Set(drop);
    return ({ id }: PolicySource): boolean => !dropped.has(id);
  }

  private async prepare(
    list: AddedList,
    at: { place: number; stored: readonly StoredSource[]; temporary: string[]; signal: AbortSignal },
  ): Promise<Added> {
    const path = `lists.add.${at.place}`;
    if ('source_id' in list) return this.prepareStored(list.source_id, path, at.stored);
    const file = this.parts.cache.temporaryPath();
    at.temporary.push(file);
    const bytes =
      'text' in list ? await writeText(file, list.text) : await this.fetch(list.url, file, path, at.signal);
    // A negative id cannot be the id of a stored source.
    const id = -1 - at.place;
    const reading = { kind: list.kind, subdomains: list.subdomains };
    const row = { id, name: list.name, kind: list.kind, enabled: true, groupIds: list.group_ids };
    return { row, bytes, input: { id, path: file, reading, inputKey: inputKeyOf(-id, 'draft', reading) } };
  }

  /**
   * Prepares the list of a stored source: its held update if there is one, because a user may approve it, or its active
   * copy.
   */
  private async prepareStored(id: number, path: string, stored: readonly StoredSource[]): Promise<Added> {
    const { cache, copies } = this.parts;
    const source = stored.find((one) => one.id === id);
    if (source === undefined)
      throw invalid([{ path: `${path}.source_id`, message: 'expected the id of a source' }]);
    const held = source.heldKey === null ? undefined : await copies.bring(source, source.heldKey);
    const copy = held ?? cache.copyOf(id);
    if (copy === undefined) {
      const message = `this node has no copy of source ${id} yet: refresh the source, or specify its URL`;
      throw invalid([{ path: `${path}.source_id`, message }]);
    }
    const reading = readingOf(source);
    const { name, kind, group_ids: groupIds } = source;
    const inputKey = inputKeyOf(id, copy.contentKey, reading);
    return {
      row: { id, name, kind, enabled: true, groupIds },
      bytes: source.bytes,
      input: { id, path: copy.path, reading, inputKey },
    };
  }

  private async fetch(url: string, file: string, path: string, signal: AbortSignal): Promise<number> {
    try {
      return await fetchUnsaved({ url, path: file }, this.parts, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 400) throw error;
      throw invalid([{ path: `${path}.url`, message: error.fields?.[0]?.message ?? error.message }]);
    }
  }

  private async compile(
    base: PublishedState,
    kept: readonly PolicySource[],
    added: readonly Added[],
    signal: AbortSignal,
  ): Promise<DraftedLists> {
    const { compiled } = base;
    const replaced = new Set(added.map(({ row }) => row.id));
    const stay = kept.filter(({ id }) => !replaced.has(id));
    const inputs = [...this.activeInputs(compiled, stay), ...added.map(({ input }) => input)];
    const textBytes = added.reduce((sum, { bytes }) => sum + bytes, compiled.rules.byteLength);
    const startedMs = this.parts.clock.monotonicMs();
    const { table, special, statistics } = await this.run(
      {
        lists: inputs.map(({ path, reading }) => ({ path, reading })),
        seeds: seedsOf(compiled.rules),
        expectedNames: Math.floor(textBytes / TEXT_BYTES_PER_NAME),
      },
      inputs.length - added.length,
      signal,
    );
    const sources = inputs.map(({ id, inputKey }, index) => ({
      id,
      inputKey,
      statistics: statistics[index]!,
    }));
    const ofAdded = sources.slice(-added.length);
    const faults = ofAdded.flatMap(({ statistics: { fault } }, place) =>
      fault === null ? [] : { path: `lists.add.${place}`, message: fault.message },
    );
    if (faults.length > 0) throw invalid(faults);
    const { clock } = this.parts;
    return {
      base,
      compiled: {
        rules: table.rules,
        special,
        attributes: table.attributes,
        sources,
        compiledAtMs: clock.nowMs(),
        compileMs: Math.round(clock.monotonicMs() - startedMs),
      },
      sources: [...stay, ...added.map(({ row }) => row)],
      added: ofAdded.map(({ statistics: { rules, invalidLines } }, place) => ({
        name: added[place]!.row.name,
        rules,
        invalidLines,
      })),
    };
  }

  /** Compiles the lists. `firstAdded` is the index of the first list of the draft. */
  private async run(order: Parameters<CompilePool['compile']>[0], firstAdded: number, signal: AbortSignal) {
    try {
      return await this.parts.pool.compile(order, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CompileError)) throw error;
      const place = (error.list ?? -1) - firstAdded;
      const path = place >= 0 && firstAdded + place < order.lists.length ? `lists.add.${place}` : 'lists.add';
      throw invalid([{ path, message: error.message }]);
    }
  }

  /** The active lists of the sources in `stay`, each with the format settings with which it was read. */
  private activeInputs({ sources }: CompiledRules, stay: readonly PolicySource[]): Input[] {
    const enabled = new Set(stay.flatMap(({ id, enabled: isOn }) => (isOn ? id : [])));
    return sources.flatMap(({ id, inputKey, statistics }) => {
      if (!enabled.has(id) || statistics.fault !== null) return [];
      const copy = this.parts.cache.find(id, contentKeyOf(inputKey));
      if (copy === undefined)
        throw dependencyUnavailable(
          'list_copy',
          `the active copy of source ${id} is not on the disk of this node; refresh the source`,
        );
      return { id, inputKey, path: copy.path, reading: readingOfInput(inputKey) };
    });
  }
}

async function writeText(path: string, text: string): Promise<number> {
  await writeFile(path, text, { mode: 0o600 });
  return Buffer.byteLength(text);
}

/** A list that is not saved as a source. */
interface UnsavedList {
  readonly url: string;
  /** File to create; after a failure it may exist, and the caller must remove it. */
  readonly path: string;
  readonly limits?: FetchLimits;
}

/**
 * Fetches a list that is not saved as a source; returns the size of its text. If this fails, throws 400 with an error
 * at `url`.
 */
export async function fetchUnsaved(
  { url, path, limits }: UnsavedList,
  { listDirs, bounds, lookup }: UnsavedListParts,
  signal: AbortSignal,
): Promise<number> {
  await refuseOtherFolders(url, listDirs());
  refuseMasks(url);
  try {
    const outcome = await fetchList({
      ...{ url, path, listDirs: listDirs(), bounds, signal },
      validators: { etag: null, lastModified: null },
      ...(limits !== undefined && { limits }),
      ...(lookup !== undefined && { lookup }),
    });
    return outcome.type === 'fetched' ? outcome.bytes : 0;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ListError)) throw error;
    throw invalid([{ path: 'url', message: error.message }]);
  }
}
