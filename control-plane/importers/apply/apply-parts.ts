/** The parts of the node that an import writes to. */
import type { WrittenLocalRecord } from '../../../shared/policy/local-record.ts';
import type { StoredClient } from '../../clients/client-record.ts';
import type { StoredSource } from '../../lists/sources/source-store.ts';
import type { PolicyChanges } from '../../policy/change.ts';

/** What an import needs of the node. */
export interface ApplyParts {
  readonly policy: PolicyChanges;
  /** Clients in memory, where their addresses are looked up. */
  readonly clients: { put(client: StoredClient): void };
  /** The life of list sources. */
  readonly sources: {
    takeUp(
      written: readonly StoredSource[],
      isNew: (source: StoredSource) => boolean,
      apply: () => Promise<void>,
    ): Promise<void>;
  };
  readonly catalog: { get(id: string): unknown };
  readonly localNames: { live(): { readonly configRecords: readonly WrittenLocalRecord[] } };
  /** Name of this node, which has the files of lists. */
  readonly nodeName: string;
  /** `blocking.list_dirs`; the first has the files of lists. */
  readonly listDirs: () => readonly string[];
}
