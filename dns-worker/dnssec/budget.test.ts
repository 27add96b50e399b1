import { describe, expect, test } from '@jest/globals';
import { Budget } from './budget.ts';

/** Number of calls of `spend` that a budget allows. */
function count(spend: () => boolean): number {
  let times = 0;
  while (times < 1000 && spend()) times++;
  return times;
}

describe('Budget of a validation', () => {
  test('allows 128 signatures, 30 subqueries and 32 digests', () => {
    const budget = new Budget(1);
    expect(count(() => budget.spendSignature())).toBe(128);
    expect(count(() => budget.spendSubquery(0))).toBe(30);
    expect(count(() => budget.spendDigest())).toBe(32);
    expect(budget.isSpent).toBe(true);
  });

  test('reports the spent share of the most used resource', () => {
    const budget = new Budget(1);
    budget.spendSignature();
    expect(budget.spentShare).toBeCloseTo(1 / 128);
    budget.spendSubquery(0);
    expect(budget.spentShare).toBeCloseTo(1 / 30);
  });

  test('allows 8 signatures, 200 hashes and no subquery in an answer thread', () => {
    const budget = Budget.atOnce();
    expect(budget.isAtOnce).toBe(true);
    expect(count(() => budget.spendSignature())).toBe(8);
    expect(budget.spentSignatures).toBe(8);
    expect([budget.spendHash(200), budget.spendHash(1)]).toEqual([true, false]);
    expect(budget.spendSubquery(-1)).toBe(false);
  });

  test('allows no further signature check in an answer thread after one failed check', () => {
    const budget = Budget.atOnce();
    budget.spendSignature();
    budget.noteFailedSignature();
    expect([budget.spendSignature(), budget.spentSignatures, budget.hasFailure]).toEqual([false, 1, true]);
  });
});
