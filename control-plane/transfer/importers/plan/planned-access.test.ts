import { describe, expect, test } from '@jest/globals';
import { addAllowed, addBlocked } from './planned-access.ts';
import { PlanBuilder } from './plan-builder.ts';

function planOf(add: (builder: PlanBuilder) => void) {
  const builder = new PlanBuilder();
  add(builder);
  const { keys, items } = builder.finish('adguard_home');
  return {
    keys: Object.fromEntries(keys.map(({ key, value }) => [key, value])),
    left: items.filter(({ result }) => result === 'not_mapped').map(({ name }) => name),
  };
}

describe('addAllowed()', () => {
  test('writes networks in canonical form, without duplicates', () => {
    const networks = ['192.0.2.7', '198.51.100.9/24', '198.51.100.0/24', '2001:DB8::/32', '::ffff:192.0.2.7'];
    expect(planOf((builder) => addAllowed(builder, networks, 'from'))).toEqual({
      keys: { 'dns.allowed_clients': ['192.0.2.7/32', '198.51.100.0/24', '2001:db8::/32'] },
      left: [],
    });
  });

  test.each([['0.0.0.0/0'], ['::/0'], ['128.0.0.0/1'], ['2000::/3'], ['::ffff:0:0/96'], ['::/80']])(
    'keeps the default of dns.allowed_clients instead of %s, and reports the entry',
    (network) => {
      expect(planOf((builder) => addAllowed(builder, [network, '192.0.2.0/24'], 'from'))).toEqual({
        keys: { 'dns.allowed_clients': ['private', 'connected', '192.0.2.0/24'] },
        left: [`from ${network}`],
      });
    },
  );

  test('does not set dns.allowed_clients if no entry is a network', () => {
    expect(planOf((builder) => addAllowed(builder, ['any', 'lan'], 'from'))).toEqual({
      keys: {},
      left: ['from any', 'from lan'],
    });
  });
});

describe('addBlocked()', () => {
  test('writes networks, MACs and client keys in canonical form', () => {
    const written = ['192.0.2.7', '02-00-5E-10-00-01', 'phone'];
    expect(planOf((builder) => addBlocked(builder, written, 'from')).keys).toEqual({
      'dns.blocked_clients': ['192.0.2.7/32', '02:00:5e:10:00:01', 'phone'],
    });
  });
});
