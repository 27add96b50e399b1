/** Every kind of absence in zones made up at random, proven by the NSEC records that an authority would send. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RRType } from '../../shared/dns/iana.ts';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { signedSets } from '../../test/support/dns/record-text.ts';
import { Budget } from './budget.ts';
import { denialOf } from './denial.ts';
import { compareNames } from './names.ts';
import type { Denial } from './proof.ts';

const ZONE = 'example';

function below(labels: readonly string[]): string {
  return [...labels, ZONE].join('.');
}

/** The NSEC record at each of these names, or the one that covers it, of a zone that has those. */
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

describe('NSEC', () => {
  test('proves each name of a zone to be there, empty, made from a wildcard, or missing', () => {
    const property = fc.property(
      fc.array(fc.tuple(fc.boolean(), labels, fc.boolean()), { maxLength: 6 }),
      labels,
      (owners, asked) => {
        const names = new Set(
          owners.map(([isWildcard, own, isBelow]) =>
            below([...(isBelow ? ['x'] : []), ...(isWildcard ? ['*'] : []), ...own]),
          ),
        );
        const exists = (name: string): boolean =>
          [...names].some((it) => it === name || it.endsWith(`.${name}`));
        const qname = below(asked);
        const wire = wireName(qname);
        if (exists(qname)) {
          const own = denial(names, qname);
          expect(own.noData(wire, RRType.MX)).toBe('proven');
          expect(own.noData(wire, RRType.A)).toBe(names.has(qname) ? 'unproven' : 'proven');
          expect(own.delegation(wire)).toBe('none');
          expect(own.nameError(wire)).toBe('unproven');
          return;
        }
        let at = 1;
        while (at < asked.length && !exists(below(asked.slice(at)))) at++;
        const encloser = below(asked.slice(at));
        const wildcard = `*.${encloser}`;
        const all = denial(names, qname, wildcard);
        expect(all.delegation(wire)).toBe('nothing-below');
        expect(all.wildcardAnswer(wire, encloser.split('.').length)).toBe('proven');
        expect(all.nameError(wire)).toBe(exists(wildcard) ? 'unproven' : 'proven');
        expect(all.noData(wire, RRType.MX)).toBe(exists(wildcard) ? 'proven' : 'unproven');
        const isEmpty = exists(wildcard) && !names.has(wildcard);
        expect(all.noData(wire, RRType.A)).toBe(isEmpty ? 'proven' : 'unproven');
      },
    );
    fc.assert(property, { numRuns: 2000 });
  });
});
