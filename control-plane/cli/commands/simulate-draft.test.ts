import { describe, expect, test } from '@jest/globals';
import { cannedRun } from '../../../test/support/parts/canned-answer.ts';
import { simulateDraft } from './simulate-draft.ts';

const decision = (status: string, rule: string | null) => ({ status, rule: rule === null ? null : { rule } });
const ANSWER = {
  from: '2026-01-15T11:00:00.000Z',
  to: '2026-01-15T12:00:00.000Z',
  queries: { judged: 1234 },
  is_complete: false,
  newly_blocked: { queries: 1000, domains: 2, clients: 1 },
  newly_allowed: { queries: 0, domains: 0, clients: 0 },
  domains_total: 2,
  domains: [
    {
      domain: 'ads.example',
      newly_blocked: 999,
      newly_allowed: 0,
      before: decision('ALLOWED', null),
      after: decision('BLOCKED_LIST', '||ads.example^'),
    },
  ],
  clients_total: 3,
  clients: [
    { ip_address: '192.0.2.7', ip: '192.0.2.7', hostname: null, newly_blocked: 1000, newly_allowed: 0 },
  ],
  lists: [{ name: 'mine', rules: 12_345, invalid_lines: 1 }],
};

describe('simulateDraft()', () => {
  test('prints lists, totals, names and clients, and how many more names and clients there are', async () => {
    const run = cannedRun(ANSWER, [], { deny: 'ads.example, *.more.example', drop: '3,5', group: '2' });
    expect(await simulateDraft(run)).toBe(0);
    expect(run.screen.lines).toEqual([
      'LIST   RULES  INVALID',
      'mine  12,345        1',
      '1,234 queries evaluated, from 2026-01-15 11:00 to 2026-01-15 12:00 UTC',
      'newly blocked: 1,000 queries for 2 names by 1 clients',
      'newly allowed: 0 queries for 0 names by 0 clients',
      'some queries of the period were left out',
      '',
      'BLOCKED  ALLOWED  NAME         BEFORE   AFTER         RULE',
      '    999        0  ads.example  ALLOWED  BLOCKED_LIST  ||ads.example^',
      'and 1 more names',
      '',
      'BLOCKED  ALLOWED  CLIENT     NAME',
      '  1,000        0  192.0.2.7  -',
      'and 2 more clients',
    ]);
    expect(run.sent[0]!.body).toEqual({
      limit: 20,
      lists: { add: [], drop: [3, 5] },
      managed_domains: {
        add: [
          { domain: 'ads.example', action: 'deny', group_id: 2 },
          { domain: '*.more.example', action: 'deny', group_id: 2 },
        ],
      },
      regex_filters: { add: [] },
      services: { block: [] },
    });
  });

  test('sends the service to be blocked for a group, and the regular expression to be denied', async () => {
    const run = cannedRun(ANSWER, [], {
      service: 'tiktok',
      group: '2',
      regex: '^ads',
      list: 'https://lists.example.org/a',
    });
    await simulateDraft(run);
    expect(run.sent[0]!.body).toMatchObject({
      lists: { add: [{ url: 'https://lists.example.org/a', group_ids: [2] }] },
      regex_filters: { add: [{ pattern: '^ads', group_id: 2 }] },
      services: { block: [{ service_id: 'tiktok', group_id: 2 }] },
    });
  });
});
