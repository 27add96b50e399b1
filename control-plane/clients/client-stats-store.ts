/** Clients' queries in a period, by address; `client-directory.ts` maps addresses to clients. */
import type { LogSource } from '../query-log/reading/log-source.ts';
import { sumClients } from '../query-log/reading/log-sums.ts';

/** Addresses that are counted, the busiest ones. */
const MAX_ADDRESSES = 10_000;

/** Queries from one address. */
export interface AddressCount {
  readonly address: string;
  readonly total: number;
  readonly blocked: number;
}

/** Counts of [fromMs, toMs), Unix milliseconds. */
export async function summarizeClients(
  log: LogSource,
  fromMs: number,
  toMs: number,
): Promise<AddressCount[]> {
  const request = { fromUs: fromMs * 1000, toUs: toMs * 1000, filter: {}, onDamaged: log.onDamaged };
  const sums = await log.read((tx) => sumClients(tx, request));
  return [...sums]
    .map(([address, { queries, blocked }]) => ({ address, total: queries, blocked }))
    .sort((a, b) => b.total - a.total)
    .slice(0, MAX_ADDRESSES);
}
