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

/** A span of time: [fromMs, toMs), Unix milliseconds. */
export interface CountedSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Such counts as a route asks for them; given up once `signal` is aborted. */
export interface AddressCounts {
  ofSpan(span: CountedSpan, signal: AbortSignal): Promise<readonly AddressCount[]>;
}

/** Counts of a span. */
export async function summarizeClients(
  log: LogSource,
  { fromMs, toMs }: CountedSpan,
): Promise<AddressCount[]> {
  const request = { fromUs: fromMs * 1000, toUs: toMs * 1000, filter: {}, onDamaged: log.onDamaged };
  const sums = await log.read((tx) => sumClients(tx, request));
  return sums
    .top(MAX_ADDRESSES, 'all')
    .map(([address, { queries, blocked }]) => ({ address, total: queries, blocked }));
}
