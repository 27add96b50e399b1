/**
 * Grants, opened for reading: finds the grant that decides for a client and a name. A client's own grants outrank those
 * of its group, which outrank those for everyone; then the longest name wins, then a grant for that name alone, then
 * `allow`, then the later end. A lookup costs one probe for the client's address, and for each holder one probe per
 * suffix of the name with the label count of a grant; without grants, it costs one comparison.
 */
import { hashName, MAX_LABELS } from '../../shared/dns/name.ts';
import { ADDRESS_SIZE, addressWord } from '../../shared/net/ip.ts';
import type { NameGrant } from '../../shared/snapshot/name-rules.ts';
import type { Query } from '../query/query.ts';
import { NOT_FOUND } from './name-table.ts';

/** The client, as this table looks it up. */
type Asker = Pick<Query, 'clientBytes' | 'clientAt' | 'groupIndex' | 'keyed' | 'identity'>;
/** The queried name. */
type HashedLabels = Pick<Query, 'hashLow' | 'hashHigh' | 'labelCount'>;

const NAME_SLOT_WORDS = 4;
const ADDRESS_SLOT_WORDS = 5;
/** The label of grants for every name. */
export const EVERY_NAME = -1;

/** The grants of a snapshot. One per thread and snapshot. */
export class GrantTable {
  readonly size: number;
  /** Whether there are grants for clients that are identified by addresses. */
  readonly hasAddresses: boolean;
  /** Label at which the name of the last found grant starts in the queried name, or EVERY_NAME. */
  label = EVERY_NAME;
  /** The grants in order of precedence. */
  private readonly grants: readonly NameGrant[];
  /**
   * For each group index, the index of the group's holder plus one; 0 = no grants. A holder is a group, client or
   * address that has grants.
   */
  private readonly groupAskers: Int32Array;
  /** Index of the holder plus one, by client id. */
  private readonly clientAskers = new Map<number, number>();
  /** Hash table of addresses: four words of an address, index of the holder plus one; 0 = free. */
  private readonly addresses: Int32Array;
  private readonly addressMask: number;
  /** Hash table of names: low lane, high lane, holder, index of the grant plus one; 0 = free. */
  private readonly names: Int32Array;
  private readonly nameMask: number;
  /** Index of the holder's grant for every name plus one, by holder; 0 = none. */
  private readonly everyName: Int32Array;
  /** For each number of labels: 1 = a grant with subdomains has a name with that many labels. */
  private readonly depths = new Uint8Array(MAX_LABELS + 1);
  /** For each number of labels: 1 = a grant without subdomains has a name with that many labels. */
  private readonly exactDepths = new Uint8Array(MAX_LABELS + 1);
  /** Index of the holder "everyone" plus one; 0 = no such grants. */
  private everyone = 0;
  private askerCount = 0;

  /** `groupIds`: the ids in the policy table, by index; `seedLow` and `seedHigh`: the seeds of the hashes in queries. */
  constructor(grants: readonly NameGrant[], groupIds: readonly number[], seedLow: number, seedHigh: number) {
    this.size = grants.length;
    this.grants = grants.toSorted(
      (a, b) => Number(b.isAllowing) - Number(a.isAllowing) || b.endsAtSecs - a.endsAtSecs || a.id - b.id,
    );
    const addressCount = grants.reduce((sum, { addresses }) => sum + addresses.length / ADDRESS_SIZE, 0);
    this.hasAddresses = addressCount > 0;
    const nameCount = addressCount + 2 * grants.length;
    this.groupAskers = new Int32Array(groupIds.length);
    this.addresses = new Int32Array(slotsFor(addressCount) * ADDRESS_SLOT_WORDS);
    this.addressMask = slotsFor(addressCount) - 1;
    this.names = new Int32Array(slotsFor(nameCount) * NAME_SLOT_WORDS);
    this.nameMask = slotsFor(nameCount) - 1;
    this.everyName = new Int32Array(groupIds.length + addressCount + grants.length);
    const indexOf = new Map(groupIds.map((id, index) => [id, index]));
    const hash = { low: 0, high: 0 };
    for (const [number, { name, coversSubdomains, groupId, clientId, addresses }] of this.grants.entries()) {
      if (name !== null) {
        hashName(name, 0, seedLow, seedHigh, hash);
        (coversSubdomains ? this.depths : this.exactDepths)[labelsOf(name)] = 1;
      }
      const add = (asker: number): void => {
        if (name === null) this.addForEveryName(asker, number);
        else this.addForName(coversSubdomains ? asker : exactly(asker), hash, number);
      };
      const index = groupId === null ? undefined : indexOf.get(groupId);
      if (index !== undefined) add(this.askerOfGroup(index));
      if (clientId !== null) add(this.askerOfClient(clientId));
      for (let at = 0; at < addresses.length; at += ADDRESS_SIZE) add(this.askerOfAddress(addresses, at));
      if (groupId === null && clientId === null) add(this.askerOfEveryone());
    }
  }

  /** Index of the grant that decides, or NOT_FOUND. */
  find(query: Asker & HashedLabels): number {
    const ofClient = this.clientAsker(query);
    if (ofClient !== 0) {
      const number = this.findOf(ofClient - 1, query);
      if (number !== NOT_FOUND) return number;
    }
    const ofGroup = this.groupAskers[query.groupIndex]!;
    if (ofGroup !== 0) {
      const number = this.findOf(ofGroup - 1, query);
      if (number !== NOT_FOUND) return number;
    }
    return this.everyone === 0 ? NOT_FOUND : this.findOf(this.everyone - 1, query);
  }

  /** A client that is identified by its key has only its own grants, not those of other clients at its address. */
  private clientAsker({ keyed, identity, clientBytes, clientAt }: Asker): number {
    if (keyed !== null) return this.clientAskers.get(keyed.clientId) ?? 0;
    const ofMac = identity === null ? 0 : this.addressAsker(identity, 0);
    return ofMac === 0 ? this.addressAsker(clientBytes, clientAt) : ofMac;
  }

  /** Whether a grant is for the client with the address at `from`. */
  knows(bytes: Uint8Array, from: number): boolean {
    return this.addressAsker(bytes, from) !== 0;
  }

  private addressAsker(bytes: Uint8Array, from: number): number {
    return this.addresses[this.addressSlot(bytes, from) + 4]!;
  }

  /** The grant with an index from `find`. */
  grant(number: number): NameGrant {
    return this.grants[number]!;
  }

  private findOf(asker: number, { hashLow, hashHigh, labelCount }: HashedLabels): number {
    if (this.exactDepths[labelCount] !== 0) {
      const number = this.names[this.nameSlot(hashLow[0]!, hashHigh[0]!, exactly(asker)) + 3]!;
      this.label = 0;
      if (number !== 0) return number - 1;
    }
    for (let label = 0; label < labelCount; label++) {
      if (this.depths[labelCount - label] === 0) continue;
      const number = this.names[this.nameSlot(hashLow[label]!, hashHigh[label]!, asker) + 3]!;
      if (number === 0) continue;
      this.label = label;
      return number - 1;
    }
    this.label = EVERY_NAME;
    return this.everyName[asker]! - 1;
  }

  /** Adds a grant for every name; of equal grants, the first one is kept. */
  private addForEveryName(asker: number, number: number): void {
    if (this.everyName[asker] === 0) this.everyName[asker] = number + 1;
  }

  private addForName(asker: number, hash: { low: number; high: number }, number: number): void {
    const at = this.nameSlot(hash.low, hash.high, asker);
    if (this.names[at + 3] === 0) this.names.set([hash.low, hash.high, asker, number + 1], at);
  }

  private askerOfGroup(index: number): number {
    if (this.groupAskers[index] === 0) this.groupAskers[index] = ++this.askerCount;
    return this.groupAskers[index]! - 1;
  }

  private askerOfEveryone(): number {
    if (this.everyone === 0) this.everyone = ++this.askerCount;
    return this.everyone - 1;
  }

  private askerOfClient(clientId: number): number {
    const asker = this.clientAskers.get(clientId) ?? ++this.askerCount;
    this.clientAskers.set(clientId, asker);
    return asker - 1;
  }

  private askerOfAddress(bytes: Uint8Array, from: number): number {
    const at = this.addressSlot(bytes, from);
    if (this.addresses[at + 4] === 0) {
      const words = [0, 4, 8, 12].map((word) => addressWord(bytes, from + word));
      this.addresses.set([...words, ++this.askerCount], at);
    }
    return this.addresses[at + 4]! - 1;
  }

  /** Slot of an address, or a free slot for it. */
  private addressSlot(bytes: Uint8Array, from: number): number {
    const { addresses, addressMask } = this;
    const word0 = addressWord(bytes, from);
    const word1 = addressWord(bytes, from + 4);
    const word2 = addressWord(bytes, from + 8);
    const word3 = addressWord(bytes, from + 12);
    let slot = mix(mix(mix(word0, word1), word2), word3) & addressMask;
    for (; ; slot = (slot + 1) & addressMask) {
      const at = slot * ADDRESS_SLOT_WORDS;
      if (addresses[at + 4] === 0) return at;
      if (
        addresses[at] === word0 &&
        addresses[at + 1] === word1 &&
        addresses[at + 2] === word2 &&
        addresses[at + 3] === word3
      )
        return at;
    }
  }

  /** Slot of a name of a holder, or a free slot for it. */
  private nameSlot(low: number, high: number, asker: number): number {
    const { names, nameMask } = this;
    let slot = mix(low, asker) & nameMask;
    for (; ; slot = (slot + 1) & nameMask) {
      const at = slot * NAME_SLOT_WORDS;
      if (names[at + 3] === 0) return at;
      if (names[at] === low && names[at + 1] === high && names[at + 2] === asker) return at;
    }
  }
}

/** Holder value in the slots of grants without subdomains. */
function exactly(asker: number): number {
  return ~asker;
}

function mix(one: number, other: number): number {
  const product = Math.imul(one ^ Math.imul(other, 0x9e3779b1), 0x85ebca6b);
  return product ^ (product >>> 15);
}

/** A power of two that leaves at least half of the slots free. */
function slotsFor(entries: number): number {
  return 2 ** Math.ceil(Math.log2(entries * 2 + 1));
}

function labelsOf(name: Uint8Array): number {
  let labels = 0;
  for (let at = 0; name[at] !== 0; at += name[at]! + 1) labels++;
  return labels;
}
