/** Settings of blocky, with the names of its newest version. Plain data. */
import type { FileSet } from '../files/file-set.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';

/** A list: a URL, a path, or the text of the list if it has several lines. */
export interface BlockyList {
  readonly kind: 'block' | 'allow';
  /** Name of one of blocky's groups of lists. */
  readonly group: string;
  readonly place: string;
}

/** Clients matched by one key, and their groups of lists. */
export interface BlockyClients {
  /** A name, perhaps with `*`, `?` and `[...]`; an address; or a network. */
  readonly key: string;
  readonly groups: readonly string[];
}

export interface BlockySettings {
  readonly lists: readonly BlockyList[];
  readonly clients: readonly BlockyClients[];
  /** Addresses by name, from blocky's client lookup. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  /** The whole configuration, under the keys of the newest version. */
  readonly file: ForeignTree;
  /** Files of the upload, for lists and hosts files. */
  readonly files: FileSet;
}
