import { describe, expect, test } from '@jest/globals';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { ClaimBucket, ClaimTable, claimHolder, claimOf } from '../../shared/memory/claim-table.ts';
import { secretOfTests } from '../../test/support/parts/cookies-of-tests.ts';
import { NodeMemory } from './node-memory.ts';

const cache = createAnswerCache(1_048_576);

describe('NodeMemory', () => {
  test('NodeMemory has no claims, outcomes and cuts for a single worker', () => {
    const { buffers: single } = new NodeMemory(1, cache, secretOfTests);
    expect([single.claims, single.outcomes, single.cuts]).toEqual([null, null, null]);
    const { buffers: pair } = new NodeMemory(2, cache, secretOfTests);
    expect(pair.claims).toBeInstanceOf(SharedArrayBuffer);
    expect(pair.outcomes).toBeInstanceOf(SharedArrayBuffer);
    expect(pair.cuts).toBeInstanceOf(SharedArrayBuffer);
  });

  test('NodeMemory gives each node seeds of its own', () => {
    const seeds = Array.from({ length: 8 }, () => {
      const { claims } = new NodeMemory(2, cache, secretOfTests).buffers;
      return new Int32Array(claims!)[ClaimTable.SEED_WORD];
    });
    expect(new Set(seeds).size).toBeGreaterThan(1);
  });

  test('release() frees the questions of the worker that died, and those of no other', () => {
    const memory = new NodeMemory(3, cache, secretOfTests);
    const words = new Int32Array(memory.buffers.claims!);
    const slot = ClaimTable.HEAD_WORDS + ClaimBucket.CLAIM_AT;
    words[slot] = claimOf(0, 1);
    words[slot + 1] = claimOf(2, 1);
    words[ClaimTable.HEAD_WORDS + ClaimBucket.LOCK_AT] = claimHolder(2);
    memory.release(2);
    expect(words[slot]).toBe(claimOf(0, 1));
    expect(words[slot + 1]).toBe(0);
    expect(words[ClaimTable.HEAD_WORDS + ClaimBucket.LOCK_AT]).toBe(0);
  });
});
