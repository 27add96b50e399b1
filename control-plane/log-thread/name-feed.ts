/**
 * Sends the log thread the texts for the ids and indexes in log records, each before the first record that refers to
 * it. A version is sent as its differences from the previous one; a replacement thread gets all texts to which records
 * may still refer.
 */
import { differingRows } from '../policy/change/row-differences.ts';
import {
  type ManualRows,
  type NumberedRules,
  REMEMBERED_VERSIONS,
} from '../policy/snapshot/rule-names/rule-history.ts';
import type { SentNames, SentRules } from './log-messages.ts';

const ROW_KINDS = [
  'groups',
  'sources',
  'managedDomains',
  'regexFilters',
  'blockedServices',
  'schedules',
  'grants',
] as const satisfies readonly (keyof ManualRows)[];
/**
 * Maximum number of changed managed domains that are sent separately; if more have changed, all managed domains are
 * sent.
 */
const MAX_CHANGED = 1000;

/** Sends the texts. One per node. */
export class NameFeed {
  /** Versions to which records may refer, oldest first. */
  private readonly versions: NumberedRules[] = [];
  private readonly upstreams = new Map<number, string>();
  private send: ((message: SentNames) => void) | null = null;

  /** Sends all texts so far to a new thread, and then each new one. */
  connect(send: (message: SentNames) => void): void {
    for (const [index, text] of this.upstreams) send({ type: 'upstream', index, text });
    this.versions.forEach((version, at) => send(differences(this.versions[at - 1], version)));
    this.send = send;
  }

  /** Sends the rules of a version. */
  rules({ snapshot: { version }, compiled, rows, publishedAtMs }: NumberedRules): void {
    const { attributes, sources, special } = compiled;
    const before = this.versions.at(-1);
    const next: NumberedRules = {
      snapshot: { version },
      // The rule table itself is not kept, because a replaced table must not stay in memory.
      compiled:
        before?.compiled.attributes === attributes ? before.compiled : { attributes, sources, special },
      rows: Object.fromEntries(ROW_KINDS.map((kind) => [kind, rows[kind]])) as unknown as ManualRows,
      ...(publishedAtMs !== undefined && { publishedAtMs }),
    };
    this.versions.push(next);
    if (this.versions.length > REMEMBERED_VERSIONS) this.versions.shift();
    this.send?.(differences(before, next));
  }

  /** Sends the configured text of the upstream at an index. */
  upstream(index: number, text: string): void {
    this.upstreams.set(index, text);
    this.send?.({ type: 'upstream', index, text });
  }
}

/** The part of the next version that must be sent to a thread that has `before`. */
function differences(before: NumberedRules | undefined, next: NumberedRules): SentRules {
  const { snapshot, compiled, publishedAtMs } = next;
  const changed = new Set(ROW_KINDS.filter((kind) => next.rows[kind] !== before?.rows[kind]));
  const managed =
    before && changed.has('managedDomains')
      ? managedChanges(before.rows.managedDomains, next.rows.managedDomains)
      : undefined;
  if (managed !== undefined) changed.delete('managedDomains');
  return {
    type: 'rules',
    version: snapshot.version,
    rows: Object.fromEntries([...changed].map((kind) => [kind, next.rows[kind]])),
    ...(publishedAtMs !== undefined && { publishedAtMs }),
    ...(compiled !== before?.compiled && { compiled }),
    ...(managed !== undefined && { managed }),
  };
}

/** The changed rows, if there are few. */
function managedChanges(
  before: ManualRows['managedDomains'],
  next: ManualRows['managedDomains'],
): SentRules['managed'] {
  const { gone, fresh } = differingRows(before, next);
  if (gone.length + fresh.length > MAX_CHANGED) return undefined;
  return { ids: [...gone, ...fresh].map(({ id }) => id), rows: fresh };
}
