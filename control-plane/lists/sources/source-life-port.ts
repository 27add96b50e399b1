/**
 * The list sources as the API needs them. When a promise resolves, the change is stored and in force on this node; only
 * fetching continues in the background.
 */
import type {
  BlocklistSource,
  SourceCreate,
  SourceUpdate,
  UnusedLine,
} from '../../../shared/api/policy/sources-api.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';

/** Life of the list sources. Throws ApiError: 404 unknown id, 409 duplicate, 400 for fields only it can judge. */
export interface SourceLife {
  list(kind: SourceKind): Promise<BlocklistSource[]>;
  read(kind: SourceKind, id: number): Promise<BlocklistSource>;
  /** Stores a source and starts its first fetch. */
  create(kind: SourceKind, source: SourceCreate, author: string): Promise<BlocklistSource>;
  update(kind: SourceKind, id: number, change: SourceUpdate, author: string): Promise<BlocklistSource>;
  remove(kind: SourceKind, id: number, author: string): Promise<void>;
  /** Starts a fetch and returns the source as it stands. */
  refresh(kind: SourceKind, id: number): Promise<BlocklistSource>;
  /** Starts a fetch of every enabled source of that kind. */
  refreshAll(kind: SourceKind): Promise<BlocklistSource[]>;
  /** Puts the held copy into force; 409 if there is none. */
  approve(kind: SourceKind, id: number, author: string): Promise<BlocklistSource>;
  /** Puts the rows after a rollback into force, with the list contents of that revision. */
  bringBack(): Promise<void>;
  /** The first lines in force that made no rule, invalid ones first. */
  unusedLines(kind: SourceKind, id: number): Promise<UnusedLine[]>;
}
