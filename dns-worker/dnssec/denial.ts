/**
 * Picks the records that deny existence in an answer: NSEC (`nsec.ts`) or NSEC3 (`nsec3.ts`). Both modules use only
 * records whose signatures were checked.
 */
import { RRType } from '../../shared/dns/iana.ts';
import type { SignedRRset } from './answer-records.ts';
import type { Budget } from './budget.ts';
import type { Name } from './names.ts';
import { NsecDenial } from './nsec.ts';
import { Nsec3Denial } from './nsec3.ts';
import type { Denial } from './proof.ts';

/** The denial records in checked RRsets of one zone; null if there are none. */
export function denialOf(sets: readonly SignedRRset[], zone: Name, budget: Budget): Denial | null {
  const nsec = sets.filter((set) => set.type === RRType.NSEC);
  if (nsec.length > 0) return NsecDenial.read(nsec);
  const nsec3 = sets.filter((set) => set.type === RRType.NSEC3);
  return nsec3.length > 0 ? Nsec3Denial.read(nsec3, zone, budget) : null;
}
