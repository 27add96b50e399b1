import { describe, expect, test } from '@jest/globals';
import { ForeignTree } from '../files/foreign-tree.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapRecursionAccess } from './recursion-access.ts';

const OWN = ['127.0.0.0/8', '::1/128'];

function planOf(settings: unknown) {
  const builder = new PlanBuilder();
  mapRecursionAccess(builder, new ForeignTree(settings));
  const { keys, items } = builder.finish('technitium');
  const [allowed, blocked] = ['dns.allowed_clients', 'dns.blocked_clients'].map(
    (name) => keys.find(({ key }) => key === name)?.value,
  );
  return { allowed, blocked, left: items.flatMap(({ name, result }) => (result === null ? [] : [name])) };
}

const ofLines = (...recursionNetworkACL: string[]) =>
  planOf({ recursion: 'UseSpecifiedNetworkACL', recursionNetworkACL });

describe('mapRecursionAccess()', () => {
  test.each([
    ['AllowOnlyForPrivateNetworks', ['private'], []],
    ['Allow', undefined, ['recursion Allow']],
    ['Deny', undefined, ['recursion Deny']],
    [undefined, undefined, []],
  ])('maps the mode %s', (recursion, allowed, left) => {
    expect(planOf({ recursion })).toEqual({ allowed, blocked: undefined, left });
  });

  test('blocks a network that is denied before a larger network is allowed', () => {
    expect(ofLines('!192.0.2.8/29', '192.0.2.0/24')).toEqual({
      allowed: [...OWN, '192.0.2.0/24'],
      blocked: ['192.0.2.8/29'],
      left: [],
    });
  });

  test('leaves out a denied network that no later line would allow', () => {
    expect(ofLines('192.0.2.0/24', '!192.0.2.8/29', '!0.0.0.0/0')).toEqual({
      allowed: [...OWN, '192.0.2.0/24'],
      blocked: undefined,
      left: [],
    });
  });

  test('reports a denied network that contains an allowed network', () => {
    expect(ofLines('192.0.2.8/29', '!192.0.2.0/24', '192.0.0.0/16')).toEqual({
      allowed: [...OWN, '192.0.2.8/29', '192.0.0.0/16'],
      blocked: undefined,
      left: ['recursionNetworkACL !192.0.2.0/24'],
    });
  });

  test('does not allow all clients', () => {
    expect(ofLines('0.0.0.0/0', '::/0')).toMatchObject({
      allowed: [...OWN, 'private', 'connected'],
      left: ['recursionNetworkACL 0.0.0.0/0', 'recursionNetworkACL ::/0'],
    });
  });

  test('gives denied networks of older versions precedence', () => {
    const settings = {
      recursion: 'UseSpecifiedNetworks',
      recursionAllowedNetworks: ['192.0.2.0/24'],
      recursionDeniedNetworks: ['192.0.2.8/29', 'nonsense'],
    };
    expect(planOf(settings)).toEqual({
      allowed: [...OWN, '192.0.2.0/24'],
      blocked: ['192.0.2.8/29'],
      left: ['recursion !nonsense'],
    });
  });
});
