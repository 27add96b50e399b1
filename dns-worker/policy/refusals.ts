/**
 * The networks of refused clients, per thread: how many answers each network got in this second, and how many queries
 * it sent since its last report to the control plane. The number of slots is fixed: networks with the same slot share
 * its answers, and reset each other's count of queries. An IPv4 network is a /24, an IPv6 network a /56.
 */
import { addressWord, isMappedIpv4 } from '../../shared/net/ip.ts';
import type { Query } from '../query/query.ts';

/**
 * Maximum number of answers per network and second: enough for its devices to notice, too few for an attack on others.
 */
const ANSWERS_PER_SECOND = 5;
/**
 * Seconds between two reports of a network, and maximum number of reports per second: forged senders may be in any
 * network.
 */
const REPORT_SECS = 10;
const REPORTS_PER_SECOND = 50;

const SLOTS = 1024;
/** Offsets in a slot, in words. */
const Slot = {
  SIZE: 8,
  WORD0: 0,
  WORD1: 1,
  WORD3: 2,
  SECOND: 3,
  ANSWERS: 4,
  REPORTED_SECS: 5,
  QUERIES: 6,
} as const;
/** Value that is earlier than any second of the monotonic clock. */
const NEVER_SECS = -REPORT_SECS;
const FACTOR = 0x9e3779b1 | 0;
const IPV4_MASK = ~0xff;
const IPV6_SECOND_MASK = ~0xff;

/** Counts the queries of refused clients. Each thread has one. */
export class Refusals {
  /** Queries from the network of the last query since that network's last report, if a report is due; 0 = not due. */
  unreported = 0;
  private readonly slots = new Int32Array(SLOTS * Slot.SIZE);
  private reportedSecond = 0;
  private reports = 0;

  /**
   * Counts a query of a refused client; false = its network has already had the maximum number of answers in this
   * second.
   */
  note(query: Query): boolean {
    const { slots } = this;
    const second = query.arrivedMonotonicSecs;
    const at = this.slotOf(query);
    if (slots[at + Slot.SECOND] !== second) {
      slots[at + Slot.SECOND] = second;
      slots[at + Slot.ANSWERS] = 0;
    }
    slots[at + Slot.QUERIES] = slots[at + Slot.QUERIES]! + 1;
    this.unreported = 0;
    if (second - slots[at + Slot.REPORTED_SECS]! >= REPORT_SECS && this.mayReport(second)) {
      this.unreported = slots[at + Slot.QUERIES]!;
      slots[at + Slot.QUERIES] = 0;
      slots[at + Slot.REPORTED_SECS] = second;
    }
    slots[at + Slot.ANSWERS] = slots[at + Slot.ANSWERS]! + 1;
    return slots[at + Slot.ANSWERS]! <= ANSWERS_PER_SECOND;
  }

  private mayReport(second: number): boolean {
    if (this.reportedSecond !== second) {
      this.reportedSecond = second;
      this.reports = 0;
    }
    return ++this.reports <= REPORTS_PER_SECOND;
  }

  /** Word at which the network's slot starts; takes the slot over if it belongs to another network. */
  private slotOf({ clientBytes, clientAt }: Query): number {
    const { slots } = this;
    const isIpv4 = isMappedIpv4(clientBytes, clientAt);
    const word0 = addressWord(clientBytes, clientAt);
    const word1 = isIpv4 ? 0 : addressWord(clientBytes, clientAt + 4) & IPV6_SECOND_MASK;
    const word3 = isIpv4 ? addressWord(clientBytes, clientAt + 12) & IPV4_MASK : 1;
    let hash = Math.imul(
      word0 ^ Math.imul(word1, FACTOR) ^ Math.imul(word3 ^ (word3 >>> 15), FACTOR),
      FACTOR,
    );
    hash ^= hash >>> 15;
    const at = (hash & (SLOTS - 1)) * Slot.SIZE;
    if (
      slots[at + Slot.WORD0] === word0 &&
      slots[at + Slot.WORD1] === word1 &&
      slots[at + Slot.WORD3] === word3
    )
      return at;
    slots[at + Slot.WORD0] = word0;
    slots[at + Slot.WORD1] = word1;
    slots[at + Slot.WORD3] = word3;
    // Keep the count of this second's answers, so that forged senders in two networks with this slot do not get an
    // unlimited number of answers.
    slots[at + Slot.QUERIES] = 0;
    slots[at + Slot.REPORTED_SECS] = NEVER_SECS;
    return at;
  }
}
