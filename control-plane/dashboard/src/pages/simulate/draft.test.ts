import { describe, expect, test } from '@jest/globals';
import { draftOf, keyOf } from './draft.ts';

describe('draftOf(), the draft of a simulation,', () => {
  test('contains each change in its part of the request', () => {
    const draft = draftOf(
      [
        { kind: 'turnOn', id: 4, of: 'block', name: 'social', isHeld: false },
        { kind: 'turnOff', id: 2, of: 'allow', name: 'ads' },
        { kind: 'url', url: 'https://lists.example/x', of: 'block' },
        { kind: 'domain', domain: '*.x.example', action: 'deny', groupId: null },
        { kind: 'block', serviceId: 'tube', name: 'Tube', groupId: 2 },
        { kind: 'unblock', serviceId: 'chat', name: 'Chat', groupId: 3 },
        { kind: 'client', address: '192.0.2.9', groupId: 2 },
      ],
      '7d',
    );
    expect(draft).toEqual({
      period: '7d',
      lists: {
        add: [
          { source_id: 4 },
          { url: 'https://lists.example/x', kind: 'block', name: 'https://lists.example/x' },
        ],
        drop: [2],
      },
      managed_domains: { add: [{ domain: '*.x.example', action: 'deny', group_id: null }] },
      services: {
        block: [{ service_id: 'tube', group_id: 2 }],
        unblock: [{ service_id: 'chat', group_id: 3 }],
      },
      clients: [{ ip_address: '192.0.2.9', group_id: 2 }],
    });
  });
});

describe('keyOf() for a change in a simulation', () => {
  test('is different for different changes', () => {
    const one = { kind: 'client', address: '192.0.2.9', groupId: 2 } as const;
    expect(keyOf(one)).toBe(keyOf({ ...one }));
    expect(keyOf(one)).not.toBe(keyOf({ ...one, groupId: 3 }));
  });
});
