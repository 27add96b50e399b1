import { describe, expect, test } from '@jest/globals';
import { SimulateBody } from '../../../shared/api/policy/simulate-api.ts';
import { SMALL_ROWS } from '../../../test/support/parts/small-policy.ts';
import { applyDraft, draftedAddresses } from './draft-rows.ts';

const PARTS = { sources: SMALL_ROWS.sources, findService: () => undefined };

describe('applyDraft()', () => {
  test('returns the same arrays if the draft is empty, so that nothing is compiled again', () => {
    const { rows, faults } = applyDraft(SMALL_ROWS, SimulateBody.parse({}), PARTS);
    expect(faults).toEqual([]);
    for (const [name, value] of Object.entries(SMALL_ROWS))
      expect(rows[name as keyof typeof rows]).toBe(value);
  });

  test('adds rows after existing ones, and removes the rows that the draft drops', () => {
    const draft = SimulateBody.parse({
      managed_domains: { add: [{ domain: '*.Play.example', action: 'allow', group_id: 7 }], drop: [4] },
      regex_filters: { add: [{ pattern: 'x' }] },
      services: { unblock: [{ service_id: 'tube', group_id: 7 }] },
      clients: [{ mac_address: '02-00-5E-10-00-01', group_id: 7 }],
      client_subnets: [{ subnet_cidr: '192.0.2.9/24', group_id: 7 }],
      blocking_enabled: false,
    });
    const { rows, faults } = applyDraft(SMALL_ROWS, draft, PARTS);
    expect(faults).toEqual([]);
    expect(rows.managedDomains).toMatchObject([
      { id: -1, domain: 'play.example', suffix: true, action: 'allow', groupId: 7 },
    ]);
    expect(rows.regexFilters.map(({ id }) => id)).toEqual([5, -1]);
    expect(rows.blockedServices).toEqual([]);
    expect(rows.macClients).toEqual([{ mac: '02:00:5e:10:00:01', groupId: 7 }]);
    expect(rows.subnets).toEqual([{ cidr: '192.0.2.0/24', groupId: 7 }]);
    expect(rows.blockingSwitch).toEqual({ enabled: false, until: null });
  });

  test('removes the group of an address and of a network if the draft sets it to null', () => {
    const before = {
      ...SMALL_ROWS,
      clients: [{ address: '192.0.2.1', groupId: 7 }],
      subnets: [{ cidr: '192.0.2.0/24', groupId: 7 }],
    };
    const draft = SimulateBody.parse({
      clients: [{ ip_address: '::ffff:192.0.2.1', group_id: null }],
      client_subnets: [{ subnet_cidr: '192.0.2.0/24', group_id: null }],
    });
    expect(applyDraft(before, draft, PARTS).rows).toMatchObject({ clients: [], subnets: [] });
  });
});

describe('draftedAddresses()', () => {
  test('returns the addresses of MACs, without addresses that the draft itself assigns', () => {
    const draft = SimulateBody.parse({ clients: [{ ip_address: '192.0.2.1', group_id: 1 }] });
    const addresses = ['192.0.2.1', '192.0.2.2'].map((address) => ({ address, groupId: 7 }));
    expect(draftedAddresses(draft, { macClients: [] }, () => addresses)).toEqual(addresses.slice(1));
  });
});
