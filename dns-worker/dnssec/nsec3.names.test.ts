/** Every kind of absence in randomly generated zones, proven by the NSEC3 records that an authority would send. */
import { describe, expect, test } from '@jest/globals';
import { type Missing, ZONE, below, expectProofs } from '../../test/support/dns/named-zone.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { Nsec3Chain } from '../../test/support/dns/nsec3-chain.ts';
import { signedSets } from '../../test/support/dns/record-text.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import type { Denial } from './proof.ts';

const ITERATIONS = fc.constantFrom(0, 1, 10, 50);

function denial(chain: Nsec3Chain, ...names: string[]): Denial {
  return denialOf(signedSets('', chain.proof(...names)), wireName(ZONE), new Budget(0))!;
}

/** The chain of a zone with these names, including empty non-terminals. */
function chainOf(names: Iterable<string>, iterations: number): Nsec3Chain {
  const types: Record<string, string> = { [ZONE]: 'SOA NS RRSIG DNSKEY NSEC3PARAM' };
  for (const name of names) {
    const labels = name.split('.');
    for (let i = 1; i < labels.length - 1; i++) types[labels.slice(i).join('.')] ??= '';
    types[name] = 'A RRSIG';
  }
  return new Nsec3Chain(ZONE, { iterations, salt: 'aabbccdd' }, types);
}

/** The denial of a missing name; if one of these records is missing, the denial proves nothing. */
function ofMissing(chain: Nsec3Chain, { qname, encloser, nextCloser, wildcard }: Missing): Denial {
  for (const missing of [encloser, nextCloser]) {
    const rest = [encloser, nextCloser, wildcard].filter((it) => it !== missing);
    const [left, without] = [chain.proof(...rest), chain.proof(missing)];
    if (left.includes(without)) continue;
    expect(denial(chain, ...rest).nameError(wireName(qname))).toBe('unproven');
  }
  return denial(chain, encloser, nextCloser, wildcard);
}

const label = fc.constantFrom('a', 'b', 'c');
const labels = fc.array(label, { minLength: 1, maxLength: 6 });

describe('Nsec3Denial with random zones', () => {
  test('proves for each name, with up to 50 iterations, whether it exists, has no data, matches a wildcard, or does not exist', () => {
    const property = fc.property(
      fc.array(fc.tuple(fc.boolean(), labels), { maxLength: 6 }),
      labels,
      ITERATIONS,
      (owners, asked, iterations) => {
        const names = new Set(owners.map(([isWildcard, own]) => below(isWildcard ? ['*', ...own] : own)));
        const chain = chainOf(names, iterations);
        expectProofs(names, asked, {
          ofExisting: (qname) => denial(chain, qname),
          ofMissing: (missing) => ofMissing(chain, missing),
        });
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test.each([
    [0, 120],
    [10, 120],
    [50, 120],
  ])('with %d iterations proves that a name with %d labels does not exist', (iterations, count) => {
    const deep = Array.from({ length: count }, () => 'x');
    const chain = chainOf([below(['www'])], iterations);
    const all = denial(chain, ZONE, below(['x']), below(['*']));
    expect(all.nameError(wireName(below(deep)))).toBe('proven');
  });

  test.each([
    [0, 60],
    [50, 60],
  ])('with %d iterations proves the absence of names below %d labels', (iterations, count) => {
    const deep = Array.from({ length: count }, () => 'x');
    const chain = chainOf([below(deep)], iterations);
    const missing = below(['y', ...deep]);
    const all = denial(chain, below(deep), missing, below(['*', ...deep]));
    expect(all.nameError(wireName(missing))).toBe('proven');
  });
});
