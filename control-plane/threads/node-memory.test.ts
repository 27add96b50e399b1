import { describe, expect, test } from '@jest/globals';
import { createAnswerCache } from '../../shared/memory/answer-cache-layout.ts';
import { ClaimBucket, ClaimTable, claimHolder, claimOf } from '../../shared/memory/claim-table.ts';
import { secretOfTests } from '../../test/support/parts/cookies-of-tests.ts';
import { NodeMemory } from './node-memory.ts';
import type { ThreadRole } from '../../shared/threads/messages.ts';

const cache = createAnswerCache(1_048_576);

describe('NodeMemory', () => {
  test('askerOf() gives a different index to each thread that queries upstreams', () => {
    const memory = new NodeMemory(2, cache, secretOfTests);
    const roles: readonly ThreadRole[] = ['resolve', 'answer'];
    const numbers = roles.flatMap((role) => [0, 1].map((worker) => memory.askerOf(worker, role)));
    expect(numbers).toEqual([0, 1, 2, 3]);
  });

  test('gives each node its own seeds', () => {
    const seeds = Array.from({ length: 8 }, () => {
      const { claims } = new NodeMemory(2, cache, secretOfTests).buffers;
      return new Int32Array(claims)[ClaimTable.SEED_WORD];
    });
    expect(new Set(seeds).size).toBeGreaterThan(1);
  });

  test('release() frees only the upstream queries of the worker that died', () => {
    const memory = new NodeMemory(3, cache, secretOfTests);
    const words = new Int32Array(memory.buffers.claims);
    const slot = ClaimTable.HEAD_WORDS + ClaimBucket.CLAIM_AT;
    words[slot] = claimOf(0, 1);
    words[slot + 1] = claimOf(2, 1);
    words[ClaimTable.HEAD_WORDS + ClaimBucket.LOCK_AT] = claimHolder(2);
    memory.release(2, 'resolve');
    expect(words[slot]).toBe(claimOf(0, 1));
    expect(words[slot + 1]).toBe(0);
    expect(words[ClaimTable.HEAD_WORDS + ClaimBucket.LOCK_AT]).toBe(0);
  });
});
