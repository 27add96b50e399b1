import { describe, expect, test } from '@jest/globals';
import type { UpstreamDetail } from '../../../shared/api/upstreams-api.ts';
import { askedPools } from './asked-servers.ts';

function server(kind: UpstreamDetail['kind'], pool: string, address: string): UpstreamDetail {
  const status = address.endsWith('9') ? 'Unhealthy' : 'Healthy';
  return { kind, pool_name: pool, address, status, strategy: 'Fastest' } as UpstreamDetail;
}

const parts = {
  details: () => [
    server('pool', 'spare', '192.0.2.3'),
    server('pool', 'main', '192.0.2.1'),
    server('pool', 'main', '192.0.2.9'),
    server('forward_zone', 'main', '10.0.0.1'),
  ],
  pools: () => [
    { name: 'spare', priority: 2 },
    { name: 'main', priority: 1 },
  ],
};

describe('askedPools()', () => {
  test('returns the upstream pools in the order of their priority, with the state of each server', () => {
    expect(askedPools(parts, { zone: null, servers: [] })).toEqual([
      {
        ...{ name: 'main', strategy: 'Fastest' },
        servers: [
          { address: '192.0.2.1', status: 'Healthy' },
          { address: '192.0.2.9', status: 'Unhealthy' },
        ],
      },
      { name: 'spare', strategy: 'Fastest', servers: [{ address: '192.0.2.3', status: 'Healthy' }] },
    ]);
  });

  test('returns the servers that a forward zone had at the given time, even those that it no longer has', () => {
    expect(askedPools(parts, { zone: 'main', servers: ['10.0.0.1', '10.0.0.2'] })).toEqual([
      {
        ...{ name: 'main', strategy: 'Parallel' },
        servers: [
          { address: '10.0.0.1', status: 'Healthy' },
          { address: '10.0.0.2', status: 'Unknown' },
        ],
      },
    ]);
  });
});
