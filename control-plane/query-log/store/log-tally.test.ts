import { expect, test } from '@jest/globals';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { createTallyMemory, LogTally, loseWaiting, lostRows, readTally } from './log-tally.ts';

test('LogTally continues with the counts of a thread that died, and counts its waiting rows as lost', () => {
  const memory = createTallyMemory();
  const first = new LogTally(new MemoryLogger(), memory);
  Object.assign(first, { written: 5, spooled: 4, refused: 1, ringLost: 6, nextSeq: 20, waiting: 3 });
  first.drop(2, 'spool query log', new Error('the spool is full'));
  expect(readTally(memory)).toEqual({ written: 5, spooled: 4, refused: 1, dropped: 2, waiting: 3 });
  expect(loseWaiting(memory)).toBe(3);
  const second = new LogTally(new MemoryLogger(), memory);
  expect(second).toMatchObject({ written: 5, spooled: 4, refused: 1, dropped: 5, ringLost: 6, nextSeq: 20 });
  expect(readTally(memory).waiting).toBe(0);
  expect(lostRows(memory)).toBe(12);
});

test('LogTally reports each new reason for lost rows, and when no more rows are lost', () => {
  const reasons: (string | null)[] = [];
  const tally = new LogTally(new MemoryLogger(), undefined, (reason) => reasons.push(reason));
  for (let i = 0; i < 2; i++) tally.drop(1, 'spool query log', new Error('full'));
  for (let i = 0; i < 2; i++) tally.trouble.end();
  expect(reasons).toEqual(['spool query log; they are lost: full', null]);
});
