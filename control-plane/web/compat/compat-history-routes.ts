/**
 * The compatibility API's queries over time, in slots of ten minutes of the last 24 hours; the sums of all slots are
 * equal to the summary.
 */
import { type Untimed } from '../../../shared/api/compat/compat-api.ts';
import { CompatClientHistory, CompatHistory } from '../../../shared/api/compat/compat-log-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import { readClientText } from '../../query-log/top-lists/client-text.ts';
import type { ClientSlots, SlotsOfClients } from '../../query-log/reading/client-slots.ts';
import type { ClientNames } from '../../query-log/statistics/client-names.ts';
import type { LogQuestions } from '../../query-log/log-search/log-questions.ts';
import { type CompatRequest, type CompatRoute, reading } from './compat-route.ts';
import { byKind, DECISION_KINDS, lastDay } from './day-counts.ts';
import { outcomeOf, sumStatuses } from './query-kinds.ts';

const SLOT_MS = 600_000;
/** Maximum number of clients if all are requested. */
const MAX_CLIENTS = 1000;

/** The routes of query counts over time. */
export function compatHistoryRoutes(context: {
  stats: Pick<LogQuestions, 'slotCounts' | 'clientSlots'>;
  clock: Clock;
  clients: ClientNames;
}): CompatRoute[] {
  return [
    reading('/history', CompatHistory, (request) => readHistory(context.stats, context.clock, request)),
    reading('/stats/history', CompatHistory, (request) => readHistory(context.stats, context.clock, request)),
    reading('/history/clients', CompatClientHistory, (request) =>
      readClientHistory(context.stats, context.clock, context.clients, request),
    ),
  ];
}

async function readHistory(
  stats: Pick<LogQuestions, 'slotCounts'>,
  clock: Clock,
  { gone }: CompatRequest,
): Promise<Untimed<CompatHistory>> {
  const span = lastDay(clock);
  const slots = await stats.slotCounts({ ...span, stepMs: SLOT_MS, kinds: DECISION_KINDS }, gone);
  const byStart = new Map(slots.map(({ startMs, counts: ofSlot }) => [startMs, ofSlot]));
  const history = slotStarts(span).map((startMs) => {
    const counts = byKind(byStart.get(startMs) ?? {}, DECISION_KINDS);
    const { total, cached, blocked, forwarded } = outcomeOf(sumStatuses(counts));
    return { timestamp: middleOf(startMs), total, cached, blocked, forwarded };
  });
  return { history };
}

async function readClientHistory(
  stats: Pick<LogQuestions, 'slotCounts' | 'clientSlots'>,
  clock: Clock,
  clients: ClientNames,
  { params, gone }: CompatRequest,
): Promise<Untimed<CompatClientHistory>> {
  const wanted = params.count('N', 10, MAX_CLIENTS);
  const span = lastDay(clock);
  const request = { ...span, stepMs: SLOT_MS, max: wanted === 0 ? MAX_CLIENTS : wanted };
  const found = await stats.clientSlots(request, gone);
  const shown = columnsOf(found);
  return {
    history: slotStarts(span).map((startMs, slot) => ({
      timestamp: middleOf(startMs),
      data: Object.fromEntries(shown.map(([client, { slots }]) => [client, slots[slot] ?? 0])),
    })),
    clients: Object.fromEntries(
      shown.map(([client, { total }]) => [client, { name: nameOf(client, clients), total }]),
    ),
  };
}

const OTHERS = 'others';

function nameOf(client: string, clients: ClientNames): string | null {
  if (client === OTHERS) return 'other clients';
  const { address, clientId } = readClientText(client);
  return clients.nameAt(address, clientId);
}

/** The clients by their text (address and client id), and the sum of all other clients unless it is 0. */
function columnsOf({ clients, others }: SlotsOfClients): [string, ClientSlots][] {
  const columns = clients.map((client): [string, ClientSlots] => [client.client, client]);
  return others.total === 0 ? columns : [...columns, [OTHERS, others]];
}

/** Starts of the slots that cover a span, Unix milliseconds: 145 for a day. */
function slotStarts({ fromMs, toMs }: { fromMs: number; toMs: number }): number[] {
  const first = Math.floor(fromMs / SLOT_MS);
  const slots = Math.ceil(toMs / SLOT_MS) - first;
  return Array.from({ length: slots }, (_, slot) => (first + slot) * SLOT_MS);
}

function middleOf(startMs: number): number {
  return (startMs + SLOT_MS / 2) / 1000;
}
