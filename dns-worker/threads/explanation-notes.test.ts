import { beforeEach, describe, expect, test } from '@jest/globals';
import { PolicyPipeline } from '../../test/support/parts/policy-pipeline.ts';
import { queryFor } from '../../test/support/parts/test-lists.ts';
import { StageResult } from '../query/query.ts';
import { ExplanationNotes, rulesContaining } from './explanation-notes.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';

const NO_ANSWER = new Uint8Array(0);
let weir: PolicyPipeline;

beforeEach(() => {
  weir = new PolicyPipeline();
});

describe('ExplanationNotes, the details of an explanation,', () => {
  test('placeInGroup() sets the group of a query, and ignores an unknown group', () => {
    const snapshot = weir.use([]);
    const query = queryFor('a.example', snapshot);
    expect(new ExplanationNotes(1, 99).placeInGroup(query, snapshot)).toBe(false);
    expect(new ExplanationNotes(1).placeInGroup(query, snapshot)).toBe(false);
    const groupId = snapshot.policy.groupId(0);
    expect(new ExplanationNotes(1, groupId).placeInGroup(query, snapshot)).toBe(true);
    expect([query.groupIndex, query.groupId]).toEqual([0, groupId]);
  });

  test('read() records the lists that contain the name, and the servers if the query was forwarded', () => {
    const snapshot = weir.use([{ text: '||a.example^\n', reading: { kind: 'block', subdomains: false } }]);
    const query = queryFor('a.example', snapshot);
    const notes = new ExplanationNotes(snapshot.version);
    notes.read(query, snapshot);
    expect(notes.explanation(1, NO_ANSWER)).toMatchObject({ containing: [{}], servers: null });
    notes.passed('cache', StageResult.UNRESOLVED);
    notes.read(query, snapshot);
    expect(notes.explanation(1, NO_ANSWER).servers).toEqual({ zone: null, servers: [], answeredBy: 0 });
  });
});

const BLOCK = { kind: 'block', subdomains: false } as const;

describe('rulesContaining()', () => {
  test('returns the rules for a name and its parents, and patterns, of each list', () => {
    const weir = new PolicyPipeline();
    const snapshot = weir.use([
      { text: 'www.ads.example\n||ads.example^\nother.example\n', reading: BLOCK },
      { text: '||*.a*s.example^\n', reading: BLOCK },
    ]);
    const found = rulesContaining(queryFor('www.ads.example', snapshot), snapshot);
    expect(found.map(({ origin, name }) => [origin, nameToText(name)])).toEqual([
      [RuleOrigin.LIST, 'www.ads.example'],
      [RuleOrigin.LIST, 'ads.example'],
      [RuleOrigin.SPECIAL, '.'],
    ]);
    expect(rulesContaining(queryFor('example', snapshot), snapshot)).toEqual([]);
  });
});
