/**
 * Number of queries of the busiest clients per time slot. A first step counts all clients from the dictionaries of
 * blocks, so that only the busiest need memory for slots.
 */
import { clientText } from '../top-lists/client-text.ts';
import type { LogSource } from './log-source.ts';
import type { BlockTransaction } from '../search/block-transaction.ts';
import { type BlockUse, forEachBlock, sumClients, type SumRequest } from '../sums/log-sums.ts';

/** Clients and time slots to count. */
export interface ClientSlotsRequest {
  /** [fromMs, toMs), Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Length of a slot; slots start at multiples of this length. */
  readonly stepMs: number;
  /** Maximum number of clients that are shown separately. */
  readonly max: number;
}

/** Slots that may differ in length: each consists of one or more steps. */
export interface StepSlots {
  /** Length of a step; steps start at multiples of this length. */
  readonly stepMs: number;
  /** Slot index of each step; the first step is the one that contains `fromMs`. */
  readonly slotOfStep: ArrayLike<number>;
  readonly slotCount: number;
}

/** A client with its number of queries per slot. */
export interface ClientSlots {
  /** The client in the form of `top-lists/client-text.ts`. */
  readonly client: string;
  readonly total: number;
  /** Counts by slot, beginning with the slot of `fromMs`. */
  readonly slots: Uint32Array;
}

/** The busiest clients, and all others as one entry without an address. */
export interface SlotsOfClients {
  readonly clients: readonly ClientSlots[];
  readonly others: ClientSlots;
}

const TIMES_AND_CLIENTS: BlockUse = {
  fullPieces: ['times', 'clientOf'],
  rowPieces: ['times', 'clientOf'],
  usesNames: false,
};

/** Reads the counts of a span, for all nodes together. */
export async function readClientSlots(
  log: LogSource,
  { fromMs, toMs, stepMs, max }: ClientSlotsRequest,
): Promise<SlotsOfClients> {
  const slotCount = Math.max(0, Math.ceil(toMs / stepMs) - Math.floor(fromMs / stepMs));
  const slotOfStep = Uint32Array.from({ length: slotCount }, (_, step) => step);
  const request = { fromUs: fromMs * 1000, toUs: toMs * 1000, filter: {}, onDamaged: log.onDamaged };
  return log.read((tx) => countClients(tx, request, { stepMs, slotOfStep, slotCount }, max));
}

/** Counts of the busiest clients by slot. */
export async function countClients(
  tx: BlockTransaction,
  request: SumRequest,
  { stepMs, slotOfStep, slotCount }: StepSlots,
  max: number,
): Promise<SlotsOfClients> {
  const stepUs = stepMs * 1000;
  const first = Math.floor(request.fromUs / stepUs);
  const busiest = (await sumClients(tx, request)).top(max, 'all');
  const slotsOf = new Map(busiest.map(([client]) => [client, new Uint32Array(slotCount)]));
  const others = new Uint32Array(slotCount);
  await forEachBlock(tx, request, TIMES_AND_CLIENTS, ({ reader }, rows) => {
    const { rows: rowCount, repeats } = reader.head;
    const slots = reader.head.clients.map((client) => slotsOf.get(clientText(client)) ?? others);
    const clientOf = reader.clientOf();
    const times = reader.times();
    const slotOf = (row: number): number => slotOfStep[Math.floor(times[row]! / stepUs) - first]!;
    const isWithin = (row: number): boolean => times[row]! >= request.fromUs && times[row]! < request.toUs;
    const count = (row: number): void => {
      slots[clientOf[row]!]![slotOf(row)]!++;
    };
    if (rows === null) for (let row = 0; row < rowCount; row++) count(row);
    else rows.forEach(count);
    repeats?.rows.forEach((row, entry) => {
      if (isWithin(row)) slots[repeats.clients[entry]!]![slotOf(row)]! += repeats.queries[entry]!;
    });
  });
  const clients = [...slotsOf].map(([client, slots]) => ({ client, total: sum(slots), slots }));
  return { clients, others: { client: '', total: sum(others), slots: others } };
}

function sum(slots: Uint32Array): number {
  return slots.reduce((total, count) => total + count, 0);
}
