import { describe, expect, test } from '@jest/globals';
import { questionsInWords } from '../../../test/support/parts/questions-in-words.ts';
import { SMALL_BLOCKING, SMALL_ROWS, SMALL_RULES } from '../../../test/support/parts/small-policy.ts';
import { QueryStatus } from '../../../shared/query-log.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { NOTHING_LIVE } from '../../policy/change/runtime-state.ts';
import { buildSnapshot } from '../../policy/snapshot/build/snapshot-builder.ts';
import { inWords } from './simulation-words.ts';

const stateOf = (version: number, rows = SMALL_ROWS) => ({
  snapshot: buildSnapshot(version, SMALL_RULES, rows, SMALL_BLOCKING, NOTHING_LIVE),
  ...{ compiled: SMALL_RULES, rows },
});
const SLOT = { days: 127, start: 0, end: 1, action: 'block_all' } as const;
const SCHEDULED = {
  ...SMALL_ROWS,
  schedules: [{ groupId: 7, profile: 'night', timezone: 'UTC', slots: [SLOT] }],
};

describe('inWords()', () => {
  test('describes names, addresses, lists and schedules', async () => {
    const questions = await questionsInWords([{ name: 'b.example', client: '2001:db8::9' }]);
    const name = nameFromText('b.example')!;
    const counts = { queries: 3, names: 1, clients: 1 };
    const rule = { origin: RuleOrigin.LIST, index: 1, kinds: RuleKind.BLOCK_SUFFIX, judged: name, name };
    const words = inWords(
      {
        ...{ newlyBlocked: counts, newlyAllowed: { queries: 0, names: 0, clients: 0 } },
        ...{ undecided: 0, unknownAnswers: 0, changedNames: 5, changedClients: 6 },
        names: [
          {
            ...{ name: 0, newlyBlocked: 3, newlyAllowed: 0, qtype: 28, clientCount: 1, clients: [[0, 3]] },
            before: { status: QueryStatus.BLOCKED_SCHEDULE, groupId: 7, rule: null },
            after: { status: QueryStatus.BLOCKED_LIST, groupId: 1, rule },
          },
        ],
        clients: [{ client: 0, newlyBlocked: 3, newlyAllowed: 0, nameCount: 1, names: [[0, 3]] }],
      },
      {
        ...{ before: stateOf(4, SCHEDULED), after: stateOf(5), questions },
        hostnameOf: (ip) => `host of ${ip}`,
      },
    );
    const client = { ip_address: '2001:db8::9', ip: '2001:db8::9', hostname: 'host of 2001:db8::9' };
    expect(words).toMatchObject({
      newly_blocked: { queries: 3, domains: 1, clients: 1 },
      domains_total: 5,
      domains: [
        {
          ...{ domain: 'b.example', type: 'AAAA', clients: [{ ...client, queries: 3 }] },
          before: { status: 'BLOCKED_SCHEDULE', rule: { origin: 'schedule', source: 'night' } },
          after: {
            status: 'BLOCKED_LIST',
            rule: { origin: 'list', source: 'malware', rule: '||b.example^' },
          },
        },
      ],
      clients_total: 6,
      clients: [{ ...client, domains: [{ domain: 'b.example', queries: 3 }] }],
    });
  });
});
