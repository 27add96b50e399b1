/** Response codes by name. */
import { Rcode } from '../../../shared/dns/iana.ts';

/** Number of an rcode's mnemonic or `RCODEnn` in any case; null when it is neither. */
export function rcodeFromName(name: string): number | null {
  const upper = name.toUpperCase();
  const known = Object.entries(Rcode).find(([mnemonic]) => mnemonic === upper);
  if (known) return known[1];
  const generic = /^RCODE(\d{1,4})$/.exec(upper);
  return generic ? Number(generic[1]) : null;
}
