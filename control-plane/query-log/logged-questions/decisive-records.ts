/**
 * The part of an answer that policy could block: records that refer to other names, and addresses if there are rules
 * for them. All other records are removed, so that answers that differ only in addresses or age are equal.
 */
import { RRType } from '../../../shared/dns/iana.ts';
import { readU16, Record, skipName, writeU32 } from '../../../shared/dns/wire.ts';
import { MAX_ANSWER_BYTES } from '../block/answer-form.ts';
import { type ViewedBytes, viewed } from '../block/viewed-bytes.ts';

const TARGET_TYPES: ReadonlySet<number> = new Set([RRType.CNAME, RRType.DNAME, RRType.SVCB, RRType.HTTPS]);
/** First bytes of private addresses. They also match some public addresses, which are then kept without need. */
const LOCAL_IPV4: ReadonlySet<number> = new Set([0, 10, 127, 169, 172, 192]);
const LOCAL_IPV6: ReadonlySet<number> = new Set([0, 0xfc, 0xfd, 0xfe]);

/** Reads one answer after another; the relevant records of the last answer are in `source`. */
export class DecisiveRecords {
  private readonly bytes = new Uint8Array(MAX_ANSWER_BYTES);
  /** The relevant records, with TTL 0. */
  readonly source: ViewedBytes = viewed(this.bytes);

  /**
   * Length in bytes of the records up to the last relevant one: earlier records are kept, because compression pointers
   * may refer to them. 0 = no record is relevant, -1 = the records cannot be read.
   */
  take(records: Uint8Array, withAddresses: boolean): number {
    const { bytes } = this;
    bytes.set(records);
    const { length } = records;
    let kept = 0;
    let at = 0;
    while (at < length) {
      const fields = skipName(bytes, at, length);
      if (fields < 0 || fields + Record.RDATA > length) return -1;
      const rdata = fields + Record.RDATA;
      at = rdata + readU16(bytes, fields + Record.RDLENGTH);
      if (at > length) return -1;
      writeU32(bytes, fields + Record.TTL, 0);
      if (this.matters(readU16(bytes, fields + Record.TYPE), rdata, withAddresses)) kept = at;
    }
    return kept;
  }

  private matters(type: number, rdata: number, withAddresses: boolean): boolean {
    if (TARGET_TYPES.has(type)) return true;
    if (type !== RRType.A && type !== RRType.AAAA) return false;
    return withAddresses || (type === RRType.A ? LOCAL_IPV4 : LOCAL_IPV6).has(this.bytes[rdata]!);
  }
}
