/** Sums of differences; `test/scenarios/simulated-policy.test.ts` tests whether they are correct. */
import { describe, expect, test } from '@jest/globals';
import type { SimulatedChanges } from '../../shared/threads/simulation-messages.ts';
import { type QueryInWords, questionsInWords } from '../../test/support/parts/questions-in-words.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { QuestionList } from './question-list.ts';
import { Simulation } from './simulation.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;
const opened = (text: string) => openLists([{ text, reading: BLOCK }]);

async function changes(
  queries: readonly QueryInWords[],
  [before, after]: readonly [string, string],
  limit = 10,
): Promise<SimulatedChanges> {
  const list = new QuestionList(await questionsInWords(queries));
  return new Simulation(list, opened(before), opened(after)).run(limit);
}

describe('Simulation.run() of a draft', () => {
  test('sums changes by name and by client, the most frequent first, up to the requested number', async () => {
    const queries = [
      { name: 'a.example', times: 3 },
      { name: 'a.example', client: '192.0.2.2', qtype: 28, times: 4 },
      { name: 'b.example', times: 5 },
      { name: 'c.example', client: '192.0.2.2', times: 1 },
    ];
    const texts = ['c.example\n', 'a.example\nb.example\n'] as const;
    const all = await changes(queries, texts);
    expect(all).toMatchObject({
      newlyBlocked: { queries: 12, names: 2, clients: 2 },
      newlyAllowed: { queries: 1, names: 1, clients: 1 },
      changedNames: 3,
      changedClients: 2,
      names: [
        {
          name: 0,
          newlyBlocked: 7,
          newlyAllowed: 0,
          qtype: 28,
          clientCount: 2,
          clients: [
            [1, 4],
            [0, 3],
          ],
        },
        { name: 1, newlyBlocked: 5 },
        { name: 2, newlyAllowed: 1 },
      ],
      clients: [
        { client: 0, newlyBlocked: 8, nameCount: 2 },
        {
          client: 1,
          newlyBlocked: 4,
          newlyAllowed: 1,
          names: [
            [0, 4],
            [2, 1],
          ],
        },
      ],
    });
    const some = await changes(queries, texts, 1);
    expect([some.names.length, some.clients.length, some.changedNames]).toEqual([1, 1, 3]);
  });

  test('reports queries whose result is unknown because their answers are not in the log', async () => {
    const queries = [
      { name: 'a.example', status: 'BLOCKED_CNAME', times: 2 },
      { name: 'b.example', status: 'BLOCKED_LIST', times: 3 },
      { name: 'c.example', status: 'BLOCKED_SERVICE', times: 4 },
    ] as const;
    const found = await changes(queries, ['b.example\n', 'a.example\nc.example\n']);
    expect(found).toMatchObject({
      ...{ undecided: 2, unknownAnswers: 3 },
      ...{ newlyBlocked: { queries: 4 }, newlyAllowed: { queries: 3 } },
    });
  });
});
