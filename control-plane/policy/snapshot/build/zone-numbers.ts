/**
 * Assigns numbers to the definitions of forward zones: the number of the zone's cache partition, and the numbers of its
 * servers in log records. A definition that was removed and is added again gets its old numbers; a changed definition
 * of a zone gets a new partition, so that it never uses answers that were cached for the previous definition.
 */
import { parseUpstream } from '../../../../config/upstream-url.ts';
import { nameFromText } from '../../../../shared/dns/name.ts';
import { FIRST_ZONE_UPSTREAM, type ForwardZone } from '../../../../shared/snapshot/forward-zone-servers.ts';

const MAX_NUMBER = 0xffff;

/** A zone to which no numbers are assigned yet. */
export interface DefinedZone {
  /** Name of the zone as shown to users. */
  readonly zone: string;
  /** The names that the zone covers. */
  readonly names: readonly string[];
  /** Upstream URLs. */
  readonly servers: readonly string[];
}

/** Assigns numbers that are valid for one run of the process, like the cache. */
export class ZoneNumbers {
  private readonly partitions = new Numbering(1);
  private readonly upstreams: Numbering;

  /** `onUpstream` is called whenever a number is assigned to a server, before zones with this number are returned. */
  constructor(onUpstream?: (number: number, server: string) => void) {
    this.upstreams = new Numbering(FIRST_ZONE_UPSTREAM, onUpstream);
  }

  /** The zones in the form that DNS threads read. Of several definitions of a zone, the first is used. */
  number(zones: readonly DefinedZone[]): ForwardZone[] {
    const definitions = zones.map(({ names, servers }) => JSON.stringify([names, servers]));
    const inUse = new Set(definitions);
    const serversInUse = new Set(zones.flatMap(({ servers }) => servers));
    return zones.map(({ zone, names, servers }, index) => {
      const usable = servers.filter((server) => parseUpstream(server) !== undefined);
      return {
        zone,
        names: names.flatMap((name) => nameFromText(name) ?? []),
        partition: this.partitions.of(definitions[index]!, inUse),
        servers: usable.flatMap((server) => parseUpstream(server) ?? []),
        upstreamNumbers: usable.map((server) => this.upstreams.of(server, serversInUse)),
      };
    });
  }

  /** The configured text of a zone's server; undefined for an unknown number. */
  upstreamOf(number: number): string | undefined {
    return this.upstreams.nameOf(number);
  }
}

/**
 * Assigns the numbers from `first` to 65535 to names; after the last one, reuses the number that has been free for the
 * longest time.
 */
class Numbering {
  private readonly byName = new Map<string, number>();
  private readonly byNumber = new Map<number, string>();
  private readonly onNumber: ((number: number, name: string) => void) | undefined;
  private next: number;

  constructor(first: number, onNumber?: (number: number, name: string) => void) {
    this.next = first;
    this.onNumber = onNumber;
  }

  of(name: string, inUse: ReadonlySet<string>): number {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    const number = this.next <= MAX_NUMBER ? this.next++ : this.takeOldest(inUse);
    this.byName.set(name, number);
    this.byNumber.set(number, name);
    this.onNumber?.(number, name);
    return number;
  }

  nameOf(number: number): string | undefined {
    return this.byNumber.get(number);
  }

  private takeOldest(inUse: ReadonlySet<string>): number {
    for (const [name, number] of this.byName) {
      if (inUse.has(name)) continue;
      this.byName.delete(name);
      return number;
    }
    throw new RangeError(`could not number the forward zones: more than ${this.byName.size} are in use`);
  }
}
