/** Starts everything, in order. */
import type { LoadedConfig } from '../config/parse-config.ts';

/** Starts Weir and resolves once it answers. */
export async function startWeir(_loaded: LoadedConfig): Promise<void> {
  throw new Error('start: not there yet');
}
