/** Set-up of the suites about the life cycle of lists. */
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { blocklist, type ListNode, RunningLists } from './running-lists.ts';

/**
 * Registers the hooks of a suite: one database and one list server for all its tests, both emptied before each test.
 */
export function serveLists(take: (running: RunningLists) => void): void {
  let running: RunningLists;
  beforeAll(async () => {
    running = await RunningLists.open();
    take(running);
  });
  beforeEach(() => running.begin());
  afterEach(() => running.end());
  afterAll(() => running.close());
}

/** Creates a blocklist on a node and waits until it is active there; returns its id. */
export async function addList(node: ListNode, url: string): Promise<number> {
  const { id } = await node.life.create(blocklist(url));
  await node.life.idle();
  return id;
}
