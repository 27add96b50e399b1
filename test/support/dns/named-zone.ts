/**
 * A zone with given names, and the facts that its denials must prove about any name below it (RFC 4035 section 5.4, RFC
 * 5155 section 8).
 */
import { expect } from '@jest/globals';
import type { Denial } from '../../../dns-worker/dnssec/proof.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { wireName } from './built-messages.ts';

/** The apex. */
export const ZONE = 'example';

/** A name below the zone built from labels; the last label is next to the zone. */
export function below(labels: readonly string[]): string {
  return [...labels, ZONE].join('.');
}

/** The names whose records prove that another name does not exist. */
export interface Missing {
  readonly qname: string;
  readonly encloser: string;
  readonly nextCloser: string;
  readonly wildcard: string;
}

/** Denials of a zone. */
interface Denials {
  /** Denial of the type for a name that exists. */
  ofExisting(qname: string): Denial;
  ofMissing(missing: Missing): Denial;
}

/**
 * Expects that exactly the correct proofs about the name with these labels are valid. All names of the zone have A
 * records.
 */
export function expectProofs(names: ReadonlySet<string>, asked: readonly string[], denials: Denials): void {
  const exists = (name: string): boolean => [...names].some((it) => it === name || it.endsWith(`.${name}`));
  const qname = below(asked);
  const wire = wireName(qname);
  if (exists(qname)) {
    const own = denials.ofExisting(qname);
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
  const all = denials.ofMissing({ qname, encloser, nextCloser: below(asked.slice(at - 1)), wildcard });
  expect(all.delegation(wire)).toBe('nothing-below');
  expect(all.wildcardAnswer(wire, encloser.split('.').length)).toBe('proven');
  expect(all.nameError(wire)).toBe(exists(wildcard) ? 'unproven' : 'proven');
  expect(all.noData(wire, RRType.MX)).toBe(exists(wildcard) ? 'proven' : 'unproven');
  const isEmpty = exists(wildcard) && !names.has(wildcard);
  expect(all.noData(wire, RRType.A)).toBe(isEmpty ? 'proven' : 'unproven');
}
