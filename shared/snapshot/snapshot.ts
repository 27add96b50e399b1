/**
 * All policy data of a thread. A snapshot is immutable: a change creates a new snapshot, to which threads switch
 * between two batches. The control plane builds it (`control-plane/policy/snapshot/build/`).
 */

import type { NameRules } from './name-rules.ts';
import type { NamedClient } from './named-clients.ts';

/** A snapshot in the form that is sent over a MessagePort and stored on disk. */
export interface SnapshotBuffers {
  /** Version, which strictly increases on one node; 0 only for the empty snapshot. */
  readonly version: number;
  /** The compiled rules of all lists, see `rule-table.ts`; shared by many versions. */
  readonly rules: SharedArrayBuffer;
  /** Patterns and conditional rules of all lists, see `special-rules.ts`; shared like `rules`. */
  readonly special: SharedArrayBuffer;
  /** Names of managed domains and blocked services: a separate rule table, rebuilt at each change. */
  readonly manual: SharedArrayBuffer;
  /** Regex filters, as special rules. */
  readonly manualSpecial: SharedArrayBuffer;
  /** The effect of rules for each group, and the blocking settings, see `policy-table.ts`. */
  readonly policy: SharedArrayBuffer;
  /** Names that this server answers itself, see `local-name-table.ts`. */
  readonly local: SharedArrayBuffer;
  /** The group of each client, see `client-table.ts`. */
  readonly clients: SharedArrayBuffer;
  /** Clients that are identified by a key, see `keyed-clients.ts`. */
  readonly keys: SharedArrayBuffer;
  /** Clients that rules of lists identify by MAC or by name. */
  readonly namedClients: readonly NamedClient[];
  readonly names: NameRules;
}
