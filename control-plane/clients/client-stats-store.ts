/** Clients' queries in a period, by address and key; `client-directory.ts` maps addresses to clients. */
import { type CountedClient, readClientText } from '../query-log/names/client-text.ts';
import type { LogSource } from '../query-log/reading/log-source.ts';
import { sumClients } from '../query-log/sums/log-sums.ts';

/** Addresses that are counted, the busiest ones. */
const MAX_ADDRESSES = 10_000;

/** Queries from one address, without those of clients that named themselves; or of one of these from there. */
export interface AddressCount extends CountedClient {
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
  return log.read(async (tx) =>
    (await sumClients(tx, request))
      .top(MAX_ADDRESSES, 'all')
      .map(([client, { queries, blocked }]) => ({ ...readClientText(client), total: queries, blocked })),
  );
}
