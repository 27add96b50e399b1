/** Sums that are kept between questions against sums that are made for each, and against a plain count of all rows. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import {
  countPlainly,
  type DayRow,
  FIRST_DAY,
  FIRST_DAY_MS,
  LogOfDays,
  type UpkeepStep,
} from '../../../test/support/parts/rows-of-days.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import type { QueryStatusCode } from '../../../shared/query-log.ts';
import { BackgroundWork } from '../../db/background-work.ts';
import { fromSentTarget } from '../../db/database-target.ts';
import type { KeySums } from '../names/key-sums.ts';
import type { ListKind } from '../names/name-list-store.ts';
import { LogMemory } from '../search/log-memory.ts';
import { DAY_MS } from '../store/block-gatherer.ts';
import { dropPartitions } from '../store/partition-store.ts';
import { sumClients, sumNames, type SumRequest } from './log-sums.ts';
import { sumPeriod } from './period-sums.ts';

const HOUR_MS = 3_600_000;

let own: TestDatabase;
let log: LogOfDays;
let work: BackgroundWork;
beforeAll(async () => {
  own = await startTestDatabase();
  log = new LogOfDays(own.database);
  const target = fromSentTarget(own.database.target());
  work = new BackgroundWork(target, new MemoryLogger(), { places: 3, keepsPlans: true });
});
afterAll(async () => {
  await work.end();
  await own.stop();
});

interface Asked {
  readonly fromMs: number;
  readonly toMs: number;
  readonly kinds: readonly ListKind[];
}

/** All that is seen of sums. */
function shown(sums: KeySums<unknown>): unknown {
  const { distinct, isEstimate } = sums;
  return { all: Object.fromEntries(sums), top: sums.top(3, 'all'), distinct, isEstimate };
}

/** The sums with what is kept, and without, in one state of the log; each with what was damaged. */
async function ask(memory: LogMemory, { fromMs, toMs, kinds }: Asked): Promise<[unknown, unknown]> {
  const span = { fromUs: fromMs * 1000, toUs: toMs * 1000, filter: {} };
  const told = [new Set<string>(), new Set<string>()] as const;
  const request = (at: 0 | 1): typeof span & Pick<SumRequest, 'onDamaged'> => ({
    ...span,
    onDamaged: (what, reason) => void told[at].add(`${what} ${reason}`),
  });
  memory.beginQuestion();
  return work.read(async (tx) => {
    const kept = await sumPeriod({ ...tx, memory }, request(0), kinds, (sums) =>
      kinds.map((kind) => shown(sums[kind])),
    );
    const made: unknown[] = [];
    for (const kind of kinds)
      made.push(shown(await (kind === 'names' ? sumNames(tx, request(1)) : sumClients(tx, request(1)))));
    return [
      { sums: kept, damaged: told[0] },
      { sums: made, damaged: told[1] },
    ];
  });
}

interface Storing {
  readonly node: number;
  readonly hour: number;
  readonly blocks: number;
  readonly rows: readonly (Pick<DayRow, 'name' | 'client' | 'status'> & { readonly sinceMs: number })[];
}

const FLIP = {
  'break names': 'UPDATE query_blocks SET names = set_byte(names, 9, get_byte(names, 9) # 1) WHERE day = $1',
  'break head': 'UPDATE query_blocks SET head = set_byte(head, 9, get_byte(head, 9) # 1) WHERE day = $1',
  'break lists': `UPDATE query_names SET clients = set_byte(clients, 9, get_byte(clients, 9) # 1)
    WHERE grain = 'd' AND start >= $1::date AND start < $1::date + 1`,
} as const;

interface Breaking {
  readonly what: keyof typeof FLIP | 'drop';
  readonly day: number;
}

type Step = { readonly store: Storing } | { readonly keep: UpkeepStep } | { readonly break: Breaking };

/** Hours in which many blocks come, so that some get a list. */
const hour = fc.oneof(fc.constantFrom(5, 26), fc.nat(71));
const node = fc.constantFrom(7, 8);
const sinceMs = fc.nat(HOUR_MS - 1);
const status = fc.constantFrom<QueryStatusCode>(1, 4, 12);
const rows = fc.array(fc.record({ sinceMs, name: fc.nat(9), client: fc.nat(5), status }), {
  ...{ minLength: 1, maxLength: 6 },
});
const store = fc.record({ node, hour, blocks: fc.integer({ min: 1, max: 5 }), rows });
const kept = fc.constantFrom<UpkeepStep['what']>('fold', 'fold both', 'merge', 'fold day');
const broken = fc.constantFrom<Breaking['what']>('break names', 'break head', 'break lists', 'drop');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ store }) },
  { weight: 3, arbitrary: fc.record({ keep: fc.record({ what: kept, node, day: fc.nat(2) }) }) },
  { weight: 1, arbitrary: fc.record({ break: fc.record({ what: broken, day: fc.nat(2) }) }) },
);
/** Few lengths, so that each comes again, further on or back. */
const asked: fc.Arbitrary<Asked> = fc
  .record({
    startMs: fc.oneof(
      fc.integer({ min: -3, max: 72 }).map((h) => h * HOUR_MS),
      fc.integer({ min: -HOUR_MS, max: 72 * HOUR_MS }),
    ),
    lengthMs: fc.constantFrom(HOUR_MS / 2, 26 * HOUR_MS, 60 * HOUR_MS),
    kinds: fc.constantFrom<ListKind[]>(['names'], ['clients'], ['names', 'clients']),
  })
  .map(({ startMs, lengthMs, kinds }) => {
    return { fromMs: FIRST_DAY_MS + startMs, toMs: FIRST_DAY_MS + startMs + lengthMs, kinds };
  });
/** Everything and little is remembered, or the numbers of names do not suffice. */
const memoryOf = fc.constantFrom(
  () => new LogMemory(),
  () => new LogMemory(5000),
  () => new LogMemory(1e6, 8),
);

async function storeBlocks({ node: of, hour: at, blocks, rows: some }: Storing): Promise<DayRow[]> {
  const stored: DayRow[] = [];
  for (let block = 0; block < blocks; block++) {
    const added = some.map(({ sinceMs: since, ...row }) => ({
      ...{ ...row, node: of },
      timeMs: FIRST_DAY_MS + at * HOUR_MS + ((since + block * 1000) % HOUR_MS),
    }));
    await log.store(of, added);
    stored.push(...added);
  }
  return stored;
}

async function breakLog({ what, day }: Breaking): Promise<void> {
  if (what === 'drop') await dropPartitions(own.database, [FIRST_DAY + day]);
  else await own.database.query(FLIP[what], [new Date((FIRST_DAY + day) * DAY_MS)]);
}

describe('sumPeriod(), whose sums are kept,', () => {
  test('gives the sums of all rows, whatever came, was folded, merged, damaged or dropped between two questions', async () => {
    const turns = fc.array(fc.tuple(step, fc.array(asked, { minLength: 1, maxLength: 3 })), {
      ...{ minLength: 4, maxLength: 12 },
    });
    await fc.assert(
      fc.asyncProperty(turns, memoryOf, async (all, newMemory) => {
        await log.empty();
        let memory = newMemory();
        const stored: DayRow[] = [];
        let isBroken = false;
        for (const [change, questions] of all) {
          if ('store' in change) stored.push(...(await storeBlocks(change.store)));
          else if ('keep' in change) await log.keep(change.keep);
          else {
            await breakLog(change.break);
            isBroken = true;
            memory = change.break.what === 'drop' ? memory : newMemory(); // What was read before is not read again.
          }
          const next = ask(memory, questions[0]!);
          const answers = await Promise.all([next, ...questions.map((question) => ask(memory, question))]);
          for (const [found, made] of answers) expect(found).toEqual(made);
          if (!isBroken) expect(await sumsOf(memory, questions[0]!)).toEqual(plainly(stored, questions[0]!));
        }
      }),
      { numRuns: 6 },
    );
  });
});

/** The sums by kind. */
async function sumsOf(memory: LogMemory, { fromMs, toMs, kinds }: Asked): Promise<unknown> {
  const request = { fromUs: fromMs * 1000, toUs: toMs * 1000, onDamaged: () => undefined };
  return work.read((tx) =>
    sumPeriod({ ...tx, memory }, request, kinds, (sums) =>
      Object.fromEntries(kinds.map((kind) => [kind, Object.fromEntries<unknown>(sums[kind])])),
    ),
  );
}

function plainly(all: readonly DayRow[], { fromMs, toMs, kinds }: Asked): unknown {
  const counts = countPlainly(all.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs));
  return Object.fromEntries(kinds.map((kind) => [kind, counts[kind]]));
}
