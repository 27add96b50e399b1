/** Settings of a Technitium DNS Server. Plain data. */
import type { ForeignTree } from '../files/foreign-tree.ts';

export interface TechnitiumList {
  readonly url: string;
  readonly kind: 'block' | 'allow';
  readonly enabled: boolean;
}

export interface TechnitiumZone {
  readonly name: string;
  /** Text of the zone file; null if the file is in the server's own binary form. */
  readonly text: string | null;
}

export interface TechnitiumSettings {
  readonly lists: readonly TechnitiumList[];
  readonly refreshHours: number | null;
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
  readonly zones: readonly TechnitiumZone[];
  /** Configuration of the app Advanced Blocking; null if it is not installed. */
  readonly advancedBlocking: ForeignTree | null;
  /** Names of all other installed apps. */
  readonly apps: readonly string[];
  /** The server's response to `/api/settings/get`, if the upload contains it. */
  readonly settings: ForeignTree | null;
  /** Whether the general settings are present in binary form. */
  readonly hasBinarySettings: boolean;
}
