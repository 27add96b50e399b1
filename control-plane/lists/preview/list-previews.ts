/**
 * Previews a list before it is added: fetches it to a temporary file and measures it in a separate thread, so that
 * policy changes and updates are not delayed. Time and memory are limited, and the preview ends when the client
 * disconnects.
 */
import { rm } from 'node:fs/promises';
import type { ListPreview, ListPreviewRequest } from '../../../shared/api/lists/list-preview-api.ts';
import { reasonOf } from '../../../shared/errors.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { invalid, overloaded } from '../../api/api-error.ts';
import type { ListMeasure } from '../../policy/compile/table/compile-job.ts';
import { CompileError, type CompilePool } from '../../policy/compile/table/compile-pool.ts';
import type { ActiveRules } from '../../policy/compile/table/list-overlap.ts';
import { MAX_SAMPLES } from '../../policy/compile/parse/list-statistics.ts';
import { ActiveSources } from '../../policy/snapshot/build/active-sources.ts';
import type { PublishedState } from '../../policy/snapshot/published-state.ts';
import { Semaphore } from '../../storage/concurrency/semaphore.ts';
import { FETCH_LIMITS, type FetchLimits } from '../fetch/fetch-limits.ts';
import { fetchUnsaved, type UnsavedListParts } from '../sources/draft-lists.ts';
import type { ListCache } from '../sources/list-cache.ts';

export interface ListPreviewParts extends UnsavedListParts {
  readonly cache: Pick<ListCache, 'open' | 'temporaryPath'>;
  /** A pool that is only used for previews. */
  readonly pool: Pick<CompilePool, 'measure'>;
  readonly current: () => PublishedState;
  readonly limits?: FetchLimits;
}

const MIB = 1_048_576;
/** Limits that are short enough for a waiting user, and sufficient for the largest public lists. */
const LIMITS: FetchLimits = {
  ...FETCH_LIMITS,
  totalMs: 60_000,
  compressedBytes: 64 * MIB,
  textBytes: 192 * MIB,
  lines: 8_000_000,
};
/** Maximum number of waiting previews; one runs at a time. */
const MAX_WAITING = 2;
const RETRY_SECS = 10;

/** Creates previews, one at a time. */
export class ListPreviews {
  private readonly parts: ListPreviewParts;
  private readonly turns = new Semaphore(1);
  private count = 0;

  constructor(parts: ListPreviewParts) {
    this.parts = parts;
  }

  /**
   * Describes the content of a list. Throws 400 if the list cannot be used, and 503 if too many previews are waiting.
   */
  async preview(kind: SourceKind, request: ListPreviewRequest, gone: AbortSignal): Promise<ListPreview> {
    if (this.count > MAX_WAITING) throw overloaded('other previews are waiting; try again later', RETRY_SECS);
    this.count++;
    try {
      return await this.turns.run(() => this.previewNow(kind, request, gone));
    } finally {
      this.count--;
    }
  }

  private async previewNow(
    kind: SourceKind,
    { url, subdomains }: ListPreviewRequest,
    gone: AbortSignal,
  ): Promise<ListPreview> {
    gone.throwIfAborted();
    const { cache, current, limits = LIMITS } = this.parts;
    await cache.open();
    const path = cache.temporaryPath();
    try {
      const bytes = await fetchUnsaved({ url, path, limits }, this.parts, gone);
      const state = current();
      const active = new ActiveSources(state.compiled, state.rows);
      const list = { path, reading: { kind, subdomains } };
      const measure = await this.measure(list, activeRules(state, active), gone);
      return toPreview(measure, bytes, (source) => {
        const name = active.nameOf(source);
        return name === null ? null : { id: state.compiled.sources[source]!.id, name };
      });
    } finally {
      await rm(path, { force: true });
    }
  }

  private async measure(
    list: Parameters<CompilePool['measure']>[0],
    active: ActiveRules,
    gone: AbortSignal,
  ): Promise<ListMeasure> {
    try {
      const measure = await this.parts.pool.measure(list, active, gone);
      const { fault } = measure.statistics;
      if (fault !== null) throw invalid([{ path: 'url', message: fault.message }]);
      return measure;
    } catch (error) {
      gone.throwIfAborted();
      if (!(error instanceof CompileError)) throw error;
      throw invalid([{ path: 'url', message: `could not read the list: ${reasonOf(error.cause ?? error)}` }]);
    }
  }
}

/** The compiled rules, and which of their lists are active. */
function activeRules({ compiled }: PublishedState, active: ActiveSources): ActiveRules {
  const { rules, special, attributes, sources } = compiled;
  const isOn = Uint8Array.from(sources, (_, source) => (active.nameOf(source) === null ? 0 : 1));
  const disables = new Uint8Array(sources.length ** 2);
  for (const by of sources.keys())
    for (const source of sources.keys())
      disables[by * sources.length + source] = active.disablesForAll(by, source) ? 1 : 0;
  return { rules, special, attributes, isOn, disables };
}

function toPreview(
  { statistics, overlap }: ListMeasure,
  bytes: number,
  sourceAt: (source: number) => { readonly id: number; readonly name: string } | null,
): ListPreview {
  const { format, invalidLines, skippedLines, invalidSamples, skippedSamples } = statistics;
  const overlaps = [...overlap.bySource].flatMap((rules, source) => {
    const found = rules === 0 ? null : sourceAt(source);
    return found === null ? [] : { ...found, rules };
  });
  return {
    bytes,
    format,
    names: overlap.names,
    rules: overlap.rules,
    invalid_lines: invalidLines,
    skipped_lines: skippedLines,
    unused: [...invalidSamples, ...skippedSamples].slice(0, MAX_SAMPLES),
    covered: overlap.covered,
    overlaps: overlaps.sort((one, other) => other.rules - one.rules || one.id - other.id),
  };
}
