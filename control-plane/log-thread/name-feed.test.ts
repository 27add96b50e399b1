import { beforeEach, describe, expect, test } from '@jest/globals';
import { nameFromText } from '../../shared/dns/name.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { ManualKind, RuleKind } from '../../shared/snapshot/rule-table.ts';
import { listedRule, SMALL_ROWS, SMALL_RULES } from '../../test/support/parts/small-policy.ts';
import type { PolicyRows } from '../policy/change/rows.ts';
import type { NumberedRules } from '../policy/snapshot/rule-names/rule-history.ts';
import { GivenNames } from './given-names.ts';
import type { SentNames } from './log-messages.ts';
import { NameFeed } from './name-feed.ts';

const [FIRST] = SMALL_ROWS.managedDomains;
const GAMES = { origin: RuleOrigin.MANAGED, index: 0, kinds: ManualKind.DENY_SUFFIX, groupId: 7 };
const games = nameFromText('games.example')!;

let feed: NameFeed;
let sent: SentNames[];
let names: GivenNames;
beforeEach(() => {
  feed = new NameFeed();
  ({ sent, names } = connected());
});

/** Replaces the thread: receives the messages of the feed, cloned as by a MessagePort. */
function connected(): { sent: SentNames[]; names: GivenNames } {
  const messages: SentNames[] = [];
  const given = new GivenNames(() => undefined);
  feed.connect((message) => {
    messages.push(message);
    given.take(structuredClone(message));
  });
  return { sent: messages, names: given };
}

function version(number: number, rows: PolicyRows, change: Partial<NumberedRules> = {}): void {
  feed.rules({ snapshot: { version: number }, compiled: SMALL_RULES, rows, ...change });
}

function gamesIn(given: GivenNames, number: number): string | undefined {
  return given.rule(number, GAMES, () => games)?.source;
}

describe('NameFeed', () => {
  test('gives the log thread the names of rules, schedules and upstreams', () => {
    const schedule = { id: 3, groupId: 7, profile: 'night' } as unknown as PolicyRows['schedules'][number];
    version(1, { ...SMALL_ROWS, schedules: [schedule] });
    feed.upstream(4, 'tls://192.0.2.3');
    const { name, ...listed } = listedRule(1, RuleKind.BLOCK_SUFFIX, 7);
    const source = names.rule(1, listed, () => name);
    expect(source).toEqual({ source: 'malware', before: '||', atName: true, after: '^', lists: [20] });
    expect(gamesIn(names, 1)).toBe('no games');
    expect(names.schedule(1, 7)?.source).toBe('night');
    expect([names.upstream(4), names.upstream(5)]).toEqual(['tls://192.0.2.3', undefined]);
  });

  test('sends only the differences between a version and the previous one', () => {
    version(1, SMALL_ROWS);
    version(2, SMALL_ROWS);
    const renamed = { ...FIRST!, name: 'no play' };
    const other = { ...FIRST!, id: 9, domain: 'other.example' };
    version(3, { ...SMALL_ROWS, managedDomains: [renamed, other] });
    version(4, { ...SMALL_ROWS, managedDomains: [other] });
    const [, second, third, fourth] = sent;
    expect(second).toEqual({ type: 'rules', version: 2, rows: {} });
    expect(third).toMatchObject({ rows: {}, managed: { ids: [4, 4, 9], rows: [renamed, other] } });
    expect(fourth).toMatchObject({ rows: {}, managed: { ids: [4], rows: [] } });
    expect([1, 2, 3, 4].map((number) => gamesIn(names, number))).toEqual([
      'no games',
      'no games',
      'no play',
      undefined,
    ]);
  });

  test('sends all managed domains if many of them have changed', () => {
    version(1, SMALL_ROWS);
    const many = Array.from({ length: 1500 }, (_, id) => ({ ...FIRST!, id, name: `rule ${id}` }));
    version(2, { ...SMALL_ROWS, managedDomains: many });
    expect(sent[1]).toMatchObject({ rows: { managedDomains: many } });
    expect(gamesIn(names, 2)).toBe('rule 0');
  });

  test('sends a replacement thread all names that records in the rings may refer to', () => {
    for (let number = 1; number <= 70; number++)
      version(number, { ...SMALL_ROWS, managedDomains: [{ ...FIRST!, name: `rule ${number}` }] });
    feed.upstream(0, 'udp://192.0.2.1');
    const replaced = connected().names;
    expect([6, 7, 70].map((number) => gamesIn(replaced, number))).toEqual([undefined, 'rule 7', 'rule 70']);
    expect(replaced.upstream(0)).toBe('udp://192.0.2.1');
  });
});
