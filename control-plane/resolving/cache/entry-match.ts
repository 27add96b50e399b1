/** Selects entries of the answer cache. An entry is compared without copying it, because most entries do not match. */
import type { CacheEntryFilter } from '../../../shared/api/cache-api.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { CacheEntry } from '../../../shared/memory/answer-cache-layout.ts';

/** Matches entries by name, by type, or both; all entries if neither is given. */
export class EntryMatch {
  private readonly qtype: number | undefined;
  /** Name in wire form, in lower case. */
  private readonly name: Uint8Array | undefined;
  private readonly isWithBelow: boolean;

  constructor({ domain, type }: CacheEntryFilter) {
    this.qtype = type === undefined ? undefined : rrTypeCode(type);
    this.isWithBelow = domain?.startsWith('*.') === true;
    this.name = domain === undefined ? undefined : nameFromText(domain.replace(/^\*\./, ''))!;
  }

  /** Whether the entry at `at` matches. If the entry is overwritten during the call, the result may be wrong. */
  matches(slab: Uint8Array, at: number): boolean {
    const { qtype, name } = this;
    const typeAt = at + CacheEntry.QTYPE;
    if (qtype !== undefined && (slab[typeAt]! | (slab[typeAt + 1]! << 8)) !== qtype) return false;
    if (name === undefined) return true;
    const length = slab[at + CacheEntry.QNAME_LENGTH]!;
    const above = length - name.length;
    if (above < 0 || (above > 0 && !this.isWithBelow)) return false;
    const nameAt = at + CacheEntry.QNAME;
    for (let i = 0; i < name.length; i++) if (slab[nameAt + above + i] !== name[i]) return false;
    return isLabelStart(slab, nameAt, above);
  }
}

/** Whether a label of the name begins `offset` bytes after its start. */
function isLabelStart(slab: Uint8Array, nameAt: number, offset: number): boolean {
  let label = 0;
  while (label < offset) label += 1 + slab[nameAt + label]!;
  return label === offset;
}
