import { expect, test } from '@jest/globals';
import { DeviceParts, isPart } from './device-parts.ts';

const client = (id: number, deviceId: number | null) => ({ id, deviceId });

test('partsOf() lists the main client first, and no removed clients', () => {
  const parts = new DeviceParts<ReturnType<typeof client>>();
  const [main, part, other, alone] = [client(7, 7), client(3, 7), client(9, 7), client(4, null)];
  for (const one of [other, part, main, alone]) parts.add(one);
  expect(parts.partsOf(part)).toEqual([main, part, other]);
  expect([parts.mainOf(other), parts.mainOf(main), parts.mainOf(alone)]).toEqual([main, main, alone]);
  expect([main, part, alone].map(isPart)).toEqual([false, true, false]);
  parts.remove(main);
  expect(parts.mainOf(part)).toBe(part);
  for (const one of [part, other, alone]) parts.remove(one);
  expect(parts.partsOf(part)).toEqual([part]);
});
