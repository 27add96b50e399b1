import { describe, expect, test } from '@jest/globals';
import { FairQueue } from './fair-queue.ts';

const ANYBODY = (): boolean => true;

function drain(queue: FairQueue<string>): string[] {
  const taken: string[] = [];
  while (!queue.isEmpty) taken.push(queue.take(ANYBODY)!);
  return taken;
}

describe('FairQueue, a queue shared by client networks,', () => {
  test('take() serves the networks in turn, and the items of each network in order', () => {
    const queue = new FairQueue<string>(100);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item[0]!, item);
    expect(drain(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(queue.take(ANYBODY)).toBeUndefined();
  });

  test('take() skips networks that may not take an item now', () => {
    const queue = new FairQueue<string>(100);
    for (const item of ['a1', 'b1', 'a2']) queue.add(item[0]!, item);
    expect(queue.take((network) => network !== 'a')).toBe('b1');
    expect(queue.take((network) => network !== 'a')).toBeUndefined();
    expect(drain(queue)).toEqual(['a1', 'a2']);
  });

  test('add() lets one network use half of the space, and leaves space for networks that come later', () => {
    const queue = new FairQueue<string>(90);
    const fill = (network: string): number => {
      let count = 0;
      while (queue.add(network, `${network}${String(count)}`)) count++;
      return count;
    };
    expect(fill('a')).toBe(45);
    expect(fill('b')).toBeGreaterThan(20);
    expect(fill('c')).toBeGreaterThan(10);
    expect(fill('d')).toBeGreaterThan(5);
  });

  test('remove() removes an item before its turn', () => {
    const queue = new FairQueue<string>(100);
    for (const item of ['a1', 'a2', 'b1']) queue.add(item[0]!, item);
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('b', 'b1');
    expect(drain(queue)).toEqual(['a2']);
  });
});
