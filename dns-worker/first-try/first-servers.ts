/**
 * The servers that this answer thread may query itself, in the order that its resolve thread has written
 * (`shared/memory/first-server-layout.ts`). Counts the queries and measures response times.
 */
import { latencyClass } from '../../shared/memory/answer-counters.ts';
import {
  firstServerAt,
  FirstServerRecord,
  FirstServersHead,
  RECENT_LATENCIES,
} from '../../shared/memory/first-server-layout.ts';
import { addressToText } from '../../shared/net/ip.ts';
import { type PackedSocketAddress, packSocketAddress } from '../../shared/net/kernel/socket-address.ts';
import type { HardeningSettings } from '../../shared/policy/hardening-settings.ts';
import { POOL_STRATEGIES, type PoolStrategy } from '../../shared/policy/upstream-settings.ts';
import type { Capabilities } from '../resolve/capability/capabilities.ts';
import { Hardening, isEligible } from '../resolve/capability/hardening.ts';
import { firstPlace } from '../resolve/pool.ts';
import { EdnsSupport } from '../resolve/transport/edns-support.ts';

const US_PER_MS = 1000;

/** A server that the answer thread may query. */
export class FirstServer {
  /** Identifies the resolver, see `FirstServersHead`: answers from servers of an earlier resolver are not cached. */
  readonly resolver: number;
  /** Index of the server (`Upstream.index`). */
  readonly number: number;
  readonly address: PackedSocketAddress;
  readonly hardening: Hardening;
  readonly edns: EdnsSupport;
  /** Number of queries to this server that have no response yet. */
  inFlight = 0;
  private readonly words: Int32Array;
  private readonly times: Float64Array;
  private readonly recent: Float32Array;
  private readonly classes: Int32Array;

  constructor(memory: SharedArrayBuffer, place: number, resolver: number, makeHardening: MakeHardening) {
    const at = firstServerAt(place);
    this.resolver = resolver;
    this.words = new Int32Array(memory, at, FirstServerRecord.LAST_ANSWER_MS / 4);
    this.times = new Float64Array(memory, at + FirstServerRecord.LAST_ANSWER_MS, 2);
    this.recent = new Float32Array(memory, at + FirstServerRecord.RECENT, RECENT_LATENCIES);
    this.classes = new Int32Array(memory, at + FirstServerRecord.CLASSES);
    const address = new Uint8Array(memory, at, 16).slice();
    const port = this.words[FirstServerRecord.PORT >>> 2]!;
    this.number = this.words[FirstServerRecord.NUMBER >>> 2]!;
    this.address = packSocketAddress(address, port);
    this.hardening = makeHardening(addressToText(address), port);
    this.edns = new EdnsSupport(this.hardening.record);
  }

  /** Milliseconds to wait for an answer; `random` is from 0 to 1. */
  waitMs(random: number): number {
    const shortest = this.words[FirstServerRecord.MIN_WAIT_MS >>> 2]!;
    return shortest + random * (this.words[FirstServerRecord.MAX_WAIT_MS >>> 2]! - shortest);
  }

  noteAsked(): void {
    this.inFlight++;
    Atomics.add(this.words, FirstServerRecord.ASKED >>> 2, 1);
  }

  /** Records that this server did not answer a question that another server answered. */
  noteSilent(): void {
    Atomics.add(this.words, FirstServerRecord.SILENT >>> 2, 1);
  }

  noteAnswered(latencyMs: number, nowMs: number): void {
    const word = FirstServerRecord.ANSWERED >>> 2;
    const answered = this.words[word]!;
    this.recent[answered & (RECENT_LATENCIES - 1)] = latencyMs;
    const kind = latencyClass(latencyMs * US_PER_MS);
    this.classes[kind] = (this.classes[kind]! + 1) | 0;
    this.times[0] = nowMs;
    this.times[1] = this.times[1]! + latencyMs;
    Atomics.store(this.words, word, (answered + 1) | 0);
  }
}

type MakeHardening = (ip: string, port: number) => Hardening;

/** Chooses the servers for the next question. */
export class FirstServers {
  private readonly memory: SharedArrayBuffer;
  private readonly head: Int32Array;
  private readonly makeHardening: MakeHardening;
  /** Servers in the order in which they are queried; empty = the resolve thread sends all queries. */
  private inOrder: readonly FirstServer[] = [];
  private strategy: PoolStrategy = 'Failover';
  private sequence = -1;
  private turn = 0;
  /** Servers of one resolver, by position. */
  private readonly known = new Map<number, FirstServer>();
  private resolver = -1;

  constructor(memory: SharedArrayBuffer, records: Capabilities, settings: HardeningSettings) {
    this.memory = memory;
    this.head = new Int32Array(memory, 0, FirstServersHead.SERVERS_BYTE / 4);
    this.makeHardening = (ip, port) =>
      new Hardening(records.of({ ip, port }, 'udp'), settings, isEligible(ip, false));
  }

  /** Reads changes of the order; call this method for each batch. Returns whether any server may be queried. */
  follow(): boolean {
    const sequence = Atomics.load(this.head, FirstServersHead.SEQUENCE_WORD);
    if (sequence !== this.sequence) this.read(sequence);
    return this.inOrder.length > 0;
  }

  /** Fills `chosen` with the servers for the next question, and returns their number. */
  choose(chosen: (FirstServer | null)[]): number {
    const { inOrder, strategy } = this;
    const turn = this.turn;
    this.turn = (turn + 1) & 0xffff;
    if (strategy !== 'Parallel') {
      chosen[0] = inOrder[firstPlace(strategy, inOrder.length, turn)]!;
      return 1;
    }
    for (let i = 0; i < inOrder.length; i++) chosen[i] = inOrder[i]!;
    return inOrder.length;
  }

  /** Whether a server belongs to the current resolver. */
  isCurrent({ resolver }: FirstServer): boolean {
    return resolver === Atomics.load(this.head, FirstServersHead.RESOLVER_WORD);
  }

  /** If the order is being written, no server is queried; the next call reads the order. */
  private read(sequence: number): void {
    const { head, known } = this;
    const resolver = head[FirstServersHead.RESOLVER_WORD]!;
    if (resolver !== this.resolver) known.clear();
    this.resolver = resolver;
    const strategy = POOL_STRATEGIES[head[FirstServersHead.STRATEGY_WORD]!] ?? 'Failover';
    const { ORDER_WORD, COUNT_WORD } = FirstServersHead;
    const places = head.slice(ORDER_WORD, ORDER_WORD + head[COUNT_WORD]!);
    const inOrder = [...places].map((place) => this.at(place, resolver));
    const isWhole = (sequence & 1) === 0 && Atomics.load(head, FirstServersHead.SEQUENCE_WORD) === sequence;
    this.strategy = strategy;
    this.inOrder = isWhole ? inOrder : [];
    this.sequence = isWhole ? sequence : -1;
    if (!isWhole) known.clear();
  }

  private at(place: number, resolver: number): FirstServer {
    let server = this.known.get(place);
    if (server === undefined) {
      server = new FirstServer(this.memory, place, resolver, this.makeHardening);
      this.known.set(place, server);
    }
    return server;
  }
}
