/** The types that exist at a name, as NSEC and NSEC3 list them (RFC 4034 section 4.1.2). */
import { RRType } from '../../shared/dns/iana.ts';

const MAX_WINDOW_BYTES = 32;

/**
 * Bits of window 0, by octet, for types that are not data: RRSIG and NSEC, which prove the other types, and NXNAME,
 * which means that the name does not exist (RFC 9824 section 2).
 */
const NO_DATA: Readonly<Record<number, number>> = { 5: 0x03, 16: 0x80 };
/** Query types that stand for several types (RFC 6895 section 3.1): MAILB, MAILA, ANY. Bitmaps do not contain them. */
const FIRST_MULTIPLE = 253;

/** A validated bitmap of types. */
export class TypeBitmap {
  private readonly windows: ReadonlyMap<number, Uint8Array>;

  private constructor(windows: ReadonlyMap<number, Uint8Array>) {
    this.windows = windows;
  }

  /** Reads the windows to the end of `octets`; null if a window is out of order, empty, too long or truncated. */
  static read(octets: Uint8Array): TypeBitmap | null {
    const windows = new Map<number, Uint8Array>();
    let before = -1;
    for (let at = 0; at < octets.length;) {
      const window = octets[at]!;
      const length = octets[at + 1] ?? 0;
      const end = at + 2 + length;
      if (window <= before || length < 1 || length > MAX_WINDOW_BYTES || end > octets.length) return null;
      windows.set(window, octets.subarray(at + 2, end));
      before = window;
      at = end;
    }
    return new TypeBitmap(windows);
  }

  /** Whether records of this type exist. */
  has(type: number): boolean {
    const octet = this.windows.get(type >>> 8)?.[(type & 0xff) >>> 3] ?? 0;
    return (octet & (0x80 >>> (type & 7))) !== 0;
  }

  /** Whether the bitmap belongs to the parent's side of a delegation. */
  get isDelegation(): boolean {
    return this.has(RRType.NS) && !this.has(RRType.SOA);
  }

  /** Whether the zone cannot deny names below this one (RFC 6840 section 4.1, RFC 6672 section 5.3.4). */
  get endsZone(): boolean {
    return this.isDelegation || this.has(RRType.DNAME);
  }

  /** Whether no type of data exists at the name. */
  get isEmpty(): boolean {
    for (const [window, octets] of this.windows)
      for (const [i, octet] of octets.entries())
        if ((octet & ~(window === 0 ? (NO_DATA[i] ?? 0) : 0)) !== 0) return false;
    return true;
  }

  /**
   * Whether the bitmap denies data of this type at the name. RFC 6840 sections 4.1 and 4.3: a bitmap with CNAME denies
   * nothing, because the answer should have been the CNAME; at a zone cut, the parent's bitmap can deny only DS, and
   * the child's bitmap everything except DS.
   */
  denies(type: number, isRoot: boolean): boolean {
    if (type >= FIRST_MULTIPLE && type <= RRType.ANY) return this.isEmpty;
    if (this.has(type) || this.has(RRType.CNAME)) return false;
    return type === RRType.DS ? !this.has(RRType.SOA) || isRoot : !this.isDelegation;
  }
}
