import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { loopTokenIn } from '../../shared/dns/loop-name.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import type { UpstreamReport } from '../../shared/threads/messages.ts';
import { MemoryLogger } from '../../test/support/parts/memory-logger.ts';
import { LoopCheck } from './loop-check.ts';
import type { Question } from './response/question.ts';
import type { Upstream } from './upstream.ts';

const SETTINGS = {
  enabled: true,
  intervalSecs: 1,
  timeoutMs: 1000,
  failureThreshold: 1,
  successThreshold: 1,
};
const REPORT = { status: 'Healthy', lastError: null } as UpstreamReport;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** An upstream that records the names in its queries. */
function upstream(address: string): Upstream & { readonly names: Uint8Array[] } {
  const names: Uint8Array[] = [];
  const probe = ({ qname }: Question) => {
    names.push(qname);
    return { cancel: () => undefined };
  };
  return { names, settings: { address }, probe } as unknown as Upstream & { names: Uint8Array[] };
}
const tokenOf = (name: Uint8Array | undefined): string => loopTokenIn(name!, 0, name!.length)!;

test('LoopCheck reports an upstream that sends its probe name back, until a probe does not come back', () => {
  const [router, other] = [upstream('udp://router'), upstream('udp://other')];
  const logger = new MemoryLogger();
  const check = new LoopCheck([router, other], null, SETTINGS, logger);
  jest.advanceTimersByTime(2500);
  expect([router.names.length, other.names.length]).toEqual([1, 1]);
  check.note(tokenOf(router.names[0]), '192.0.2.1');
  check.note(tokenOf(router.names[0]), '192.0.2.1');
  check.note('0'.repeat(24), '192.0.2.1');
  expect(check.mark(router, REPORT)).toMatchObject({
    status: 'Unhealthy',
    lastError: 'forwarding loop: sends queries back to this server (as client 192.0.2.1)',
  });
  expect(check.mark(other, REPORT)).toBe(REPORT);
  expect(logger.lines).toMatchObject([{ level: 'warn', fields: { upstream: 'udp://router' } }]);

  // The next check uses another name; the result is kept until the time for a returning query has passed.
  jest.advanceTimersByTime(6000 + 24_000);
  expect(router.names.length).toBeGreaterThan(1);
  expect(tokenOf(router.names.at(-1))).not.toBe(tokenOf(router.names[0]));
  jest.advanceTimersByTime(30_000);
  expect(check.mark(router, REPORT)).toBe(REPORT);
  check.close();
  const asked = router.names.length;
  jest.advanceTimersByTime(100_000);
  expect(router.names).toHaveLength(asked);
});

test('LoopCheck of a forward zone probes its servers with names in that zone', () => {
  const server = upstream('udp://router');
  const zone = nameFromText('corp.example')!;
  const check = new LoopCheck([server], zone, SETTINGS, new MemoryLogger());
  jest.advanceTimersByTime(2500);
  expect([...server.names[0]!.subarray(-zone.length)]).toEqual([...zone]);
  check.close();
});
