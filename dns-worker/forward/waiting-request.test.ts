import { describe, expect, test } from '@jest/globals';
import { Protocol } from '../../shared/query-log.ts';
import { asRefresh, chainOf, type StepRequest } from './waiting-request.ts';

const STEP: StepRequest = {
  kind: 'step',
  message: new Uint8Array(29),
  client: new Uint8Array(16),
  clientKey: 'phone',
  protocol: Protocol.tcp,
  arrivedMs: 5,
  arrivedMonotonicMs: 6,
  udpSize: 0,
  dnssecOk: true,
  ecs: null,
  chain: { hops: 3, cost: 1, grantEndsAtSecs: 99 },
  isNamedByUpstream: true,
  take: () => undefined,
};

describe('asRefresh(), which turns a request into a cache refresh,', () => {
  test('keeps the question and its position in the alias chain, and no data needed for a reply', () => {
    const { isNamedByUpstream: _named, take: _take, ...rest } = STEP;
    expect(asRefresh(STEP)).toEqual({ ...rest, kind: 'refresh' });
    expect(chainOf(asRefresh(asRefresh(STEP)))).toBe(STEP.chain);
  });
});
