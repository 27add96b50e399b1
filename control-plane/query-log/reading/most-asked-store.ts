/** The names that are answered most often. */
import type { LogSource } from './log-source.ts';
import { sumNames } from '../sums/log-sums.ts';

const DAY_MS = 86_400_000;

/** When, and how many. */
export interface MostAskedRequest {
  readonly nowMs: number;
  readonly days: number;
  readonly limit: number;
}

/** Names that any node resolved in the last days, most asked first, in lower case. */
export async function readMostAsked(
  log: LogSource,
  { nowMs, days, limit }: MostAskedRequest,
): Promise<string[]> {
  const span = { fromUs: (nowMs - days * DAY_MS) * 1000, toUs: (nowMs + 1) * 1000 };
  const sums = await log.read((tx) => sumNames(tx, { ...span, filter: {}, onDamaged: log.onDamaged }));
  return sums.top(limit, 'resolved').map(([name]) => name);
}
