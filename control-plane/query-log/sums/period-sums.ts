/**
 * Counts by name and by client over a period that is asked for again and again, such as the last 24 hours. They are kept
 * (`names/kept-sums.ts`): a question adds the blocks and lists that came, and takes away those that went, by what the
 * database says of them at that moment. What cannot be kept is counted by `log-sums.ts`.
 */
import { KeySums } from '../names/key-sums.ts';
import type { ListKind } from '../names/name-list-store.ts';
import type { TimeSpan } from '../search/block-filter.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import {
  type ClientSum,
  type NameSum,
  sumClients,
  sumNames,
  type SumRequest,
  toClientSum,
} from './log-sums.ts';
import { PeriodUpdate } from './period-update.ts';

/** Sums of both kinds. */
export interface SumsOfKinds {
  readonly names: KeySums<NameSum>;
  readonly clients: KeySums<ClientSum>;
}

type AnySums = SumsOfKinds[ListKind];

/** Which queries: all of a span, or those of one node. */
export type PeriodRequest = TimeSpan & Pick<SumRequest, 'onDamaged' | 'nodeId'>;

/** Calls `take` with the sums of a period, which change once it has returned. */
export async function sumPeriod<Kind extends ListKind, T>(
  tx: BlockTransaction,
  request: PeriodRequest,
  kinds: readonly Kind[],
  take: (sums: Pick<SumsOfKinds, Kind>) => T,
): Promise<T> {
  const { memory } = tx;
  // What is kept between questions is of all nodes.
  if (request.nodeId !== undefined) return take(await sumAll(tx, request, kinds));
  const kept = await memory?.periods.find(request).inTurn(async (period) => {
    if (period.isBarred(memory.round)) return null;
    const update = new PeriodUpdate({ tx, memory, period, request });
    if (!(await update.run(kinds))) return null;
    return { taken: take(pick(kinds, (kind) => toSums(kind, update.keys(kind)))) };
  });
  return kept ? kept.taken : take(await sumAll(tx, request, kinds));
}

function toSums(kind: ListKind, { keys, isIncomplete }: ReturnType<PeriodUpdate['keys']>): AnySums {
  return kind === 'names'
    ? new KeySums(keys, (counts) => counts, isIncomplete)
    : new KeySums(keys, toClientSum, isIncomplete);
}

async function sumAll<Kind extends ListKind>(
  tx: BlockTransaction,
  request: PeriodRequest,
  kinds: readonly Kind[],
): Promise<Pick<SumsOfKinds, Kind>> {
  const all = { ...request, filter: {} };
  const sums = new Map<ListKind, AnySums>();
  for (const kind of kinds)
    sums.set(kind, await (kind === 'names' ? sumNames(tx, all) : sumClients(tx, all)));
  return pick(kinds, (kind) => sums.get(kind)!);
}

function pick<Kind extends ListKind>(
  kinds: readonly Kind[],
  sumsOf: (kind: Kind) => AnySums,
): Pick<SumsOfKinds, Kind> {
  return Object.fromEntries(kinds.map((kind) => [kind, sumsOf(kind)])) as unknown as Pick<SumsOfKinds, Kind>;
}
