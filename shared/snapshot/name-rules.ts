/**
 * How names are answered beside group policy: plain data of a snapshot, a few entries in most homes, which
 * each thread opens into tables of its own (`dns-worker/state.ts`).
 */
import type { ForwardZone } from './forward-zone.ts';

/** Name rules of a snapshot. */
export interface NameRules {
  readonly forwardZones: readonly ForwardZone[];
}

/** Every name is for the pools. */
export const NO_NAME_RULES: NameRules = { forwardZones: [] };
