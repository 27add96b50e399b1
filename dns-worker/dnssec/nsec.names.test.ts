/** Every kind of absence in randomly generated zones, proven by the NSEC records that an authority would send. */
import { describe, test } from '@jest/globals';
import { ZONE, below, expectProofs } from '../../test/support/dns/named-zone.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { signedSets } from '../../test/support/dns/record-text.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import { compareNames } from './names.ts';
import type { Denial } from './proof.ts';

/** The NSEC records that match or cover these names, in a zone with these owners. */
function denial(owners: Iterable<string>, ...names: string[]): Denial {
  const inOrder = (a: string, b: string): number => compareNames(wireName(a), wireName(b));
  const sorted = [ZONE, ...owners].sort(inOrder);
  const records = names.map((name) => {
    const own = sorted.findLast((it) => inOrder(it, name) <= 0)!;
    const next = sorted[(sorted.indexOf(own) + 1) % sorted.length]!;
    return `${own} 300 NSEC ${next} ${own === ZONE ? 'SOA NS' : 'A'} RRSIG NSEC`;
  });
  return denialOf(signedSets('', [...new Set(records)].join('\n')), wireName(ZONE), new Budget(0))!;
}

const label = fc.constantFrom('a', 'b', 'c');
const labels = fc.array(label, { minLength: 1, maxLength: 6 });

describe('NsecDenial with random zones', () => {
  test('proves for each name whether the name exists, has no data, matches a wildcard, or does not exist', () => {
    const property = fc.property(
      fc.array(fc.tuple(fc.boolean(), labels, fc.boolean()), { maxLength: 6 }),
      labels,
      (owners, asked) => {
        const names = new Set(
          owners.map(([isWildcard, own, isBelow]) =>
            below([...(isBelow ? ['x'] : []), ...(isWildcard ? ['*'] : []), ...own]),
          ),
        );
        expectProofs(names, asked, {
          ofExisting: (qname) => denial(names, qname),
          ofMissing: ({ qname, wildcard }) => denial(names, qname, wildcard),
        });
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });
});
