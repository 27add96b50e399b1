import { expect, test } from '@jest/globals';
import { MissRecord } from './miss-ring.ts';

test('MissRecord has space for the maximum length of each field, without overlaps', () => {
  const { SIZE, MESSAGE, ECS, ARRIVED_MONOTONIC_MS, CONTROL, CLIENT, NAME } = MissRecord;
  const longest: readonly (readonly [number, number])[] = [
    [MissRecord.ARRIVED_MS, 8],
    [MissRecord.SOCKET, 4],
    [MissRecord.UDP_SIZE, 2],
    [MissRecord.FLAGS, 1],
    [MissRecord.ECS_LENGTH, 1],
    [MissRecord.NAME_LENGTH, 1],
    [MissRecord.CONTROL_LENGTH, 1],
    [MissRecord.MESSAGE_LENGTH, 2],
    [NAME, 28],
    [CLIENT, 16],
    [CONTROL, 40],
    [MESSAGE, 12 + 255 + 4],
    [ARRIVED_MONOTONIC_MS, 8],
    [ECS, 20],
  ];
  const inOrder = [...longest].sort(([a], [b]) => a - b);
  const ends = inOrder.map(([at, size]) => at + size);
  const nextStarts = [...inOrder.slice(1).map(([at]) => at), SIZE];
  for (const [index, end] of ends.entries()) expect(end).toBeLessThanOrEqual(nextStarts[index]!);
  expect([SIZE % 8, ARRIVED_MONOTONIC_MS % 8, MissRecord.ARRIVED_MS % 8]).toEqual([0, 0, 0]);
});
