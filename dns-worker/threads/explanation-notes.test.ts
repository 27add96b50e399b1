import { beforeEach, describe, expect, test } from '@jest/globals';
import { PolicyPipeline } from '../../test/support/parts/policy-pipeline.ts';
import { queryFor } from '../../test/support/parts/test-lists.ts';
import { StageResult } from '../query/query.ts';
import { ExplanationNotes } from './explanation-notes.ts';

const NO_ANSWER = new Uint8Array(0);
let weir: PolicyPipeline;

beforeEach(() => {
  weir = new PolicyPipeline();
});

describe('ExplanationNotes', () => {
  test('placeInGroup() puts a query into the group, and leaves it where it is for an unknown one', () => {
    const snapshot = weir.use([]);
    const query = queryFor('a.example', snapshot);
    expect(new ExplanationNotes(1, 99).placeInGroup(query, snapshot)).toBe(false);
    expect(new ExplanationNotes(1).placeInGroup(query, snapshot)).toBe(false);
    const groupId = snapshot.policy.groupId(0);
    expect(new ExplanationNotes(1, groupId).placeInGroup(query, snapshot)).toBe(true);
    expect([query.groupIndex, query.groupId]).toEqual([0, groupId]);
  });

  test('read() notes the lists with the name, and servers once the cache was reached only', () => {
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
