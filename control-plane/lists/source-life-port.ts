/**
 * What the API asks of the blocklist sources. A change is stored, and its effect on answers is in force on
 * this node, when its promise resolves; only fetching goes on in the background.
 */
import type { BlocklistSource, SourceCreate, SourceUpdate } from '../../shared/api/sources.ts';

/** Life of the blocklist sources. Throws ApiError: 404 unknown id, 409 duplicate, 400 for fields only it can judge. */
export interface SourceLife {
  list(): Promise<BlocklistSource[]>;
  read(id: number): Promise<BlocklistSource>;
  /** Stores a source and starts its first fetch. */
  create(source: SourceCreate): Promise<BlocklistSource>;
  update(id: number, change: SourceUpdate): Promise<BlocklistSource>;
  remove(id: number): Promise<void>;
  /** Starts a fetch and returns the source as it stands. */
  refresh(id: number): Promise<BlocklistSource>;
  /** Starts a fetch of every enabled source. */
  refreshAll(): Promise<BlocklistSource[]>;
}
