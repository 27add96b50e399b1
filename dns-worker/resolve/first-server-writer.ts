/**
 * Decides which servers the worker's answer thread may query itself (`shared/memory/first-server-layout.ts`): those of
 * the first pool if all of them answer, use UDP, and have addresses that need no lookup. If not, the answer thread
 * queries no servers, and all questions come to this thread.
 */
import { LATENCY_CLASSES } from '../../shared/memory/answer-counters.ts';
import {
  firstServerAt,
  FirstServerRecord,
  FirstServersHead,
  MAX_FIRST_SERVERS,
  RECENT_LATENCIES,
} from '../../shared/memory/first-server-layout.ts';
import { addressFromText } from '../../shared/net/ip.ts';
import { POOL_STRATEGIES } from '../../shared/policy/upstream-settings.ts';
import type { FirstAnswers, FirstNews } from './health/health.ts';
import { askingOrder, MAX_WAVE, type Pool } from './pool.ts';
import { hedgeWaitMs, resendWaitMs } from './send-times.ts';
import type { Upstream } from './upstream.ts';

/** The servers of one resolver, written for the answer thread. */
export class FirstServerWriter {
  private readonly memory: SharedArrayBuffer;
  private readonly head: Int32Array;
  private readonly pool: Pool | undefined;
  private readonly hasOthers: boolean;
  private readonly timeoutMs: number;
  private written = '';
  private isClosed = false;

  /** `pools` in order of priority. After this, no other resolver may write to `memory`. */
  constructor(memory: SharedArrayBuffer, pools: readonly Pool[], timeoutMs: number) {
    this.memory = memory;
    this.head = new Int32Array(memory, 0, FirstServersHead.SERVERS_BYTE / 4);
    this.hasOthers = pools.length > 1;
    this.timeoutMs = timeoutMs;
    const [pool] = pools;
    const max = pool?.strategy === 'Parallel' ? MAX_WAVE : MAX_FIRST_SERVERS;
    const isPossible = pool?.upstreams.every(({ fixedAddress }) => fixedAddress !== null) === true;
    this.pool = isPossible && pool.upstreams.length <= max ? pool : undefined;
    this.write(() => {
      this.head[FirstServersHead.RESOLVER_WORD]!++;
      new Uint8Array(memory, FirstServersHead.SERVERS_BYTE).fill(0);
      this.head[FirstServersHead.COUNT_WORD] = 0;
      this.pool?.upstreams.forEach((upstream, place) => this.introduce(upstream, place));
    });
  }

  /** Writes the servers and their order from their current health. This costs little if nothing changes. */
  publish(): void {
    if (this.isClosed || this.pool === undefined) return;
    const { strategy, upstreams } = this.pool;
    const isOpen = upstreams.every((upstream) => this.isFirst(upstream));
    const order = isOpen ? askingOrder(strategy, upstreams) : [];
    const places = order.map((upstream) => upstreams.indexOf(upstream));
    const waits = order.map((upstream) => this.waitMs(upstream));
    const text = JSON.stringify([places, waits]);
    if (text === this.written) return;
    this.written = text;
    this.write(() => {
      const { head, memory } = this;
      head[FirstServersHead.COUNT_WORD] = places.length;
      head[FirstServersHead.STRATEGY_WORD] = POOL_STRATEGIES.indexOf(strategy);
      places.forEach((place, turn) => {
        head[FirstServersHead.ORDER_WORD + turn] = place;
        new Int32Array(memory, firstServerAt(place) + FirstServerRecord.MIN_WAIT_MS, 2).set(waits[turn]!);
      });
    });
  }

  /** Adds the results of the answer thread to the health of the servers. */
  takeNews(): void {
    for (const upstream of this.pool?.upstreams ?? []) upstream.takeFirst();
  }

  /** Stops the answer thread from querying these servers, unless another resolver has written its servers since. */
  close(): void {
    if (this.isClosed) return;
    this.takeNews();
    for (const { health } of this.pool?.upstreams ?? []) health.first = null;
    this.isClosed = true;
  }

  /**
   * Whether the answer thread may query a server: it answers well, and usually within the wait. With any other server,
   * every question would be delayed before it reaches the resolver.
   */
  private isFirst(upstream: Upstream): boolean {
    const { health } = upstream;
    const isGood = upstream.isInOrder && !upstream.isDoubted && health.consecutiveFailures === 0;
    return isGood && health.meanLatencyMs <= this.waitMs(upstream)[0]!;
  }

  /**
   * How long the answer thread waits: the time after which the resolver would repeat a query, or query another server.
   */
  private waitMs({ health: { usualLatencyMs } }: Upstream): readonly number[] {
    const { timeoutMs } = this;
    const isAlone = !this.hasOthers && this.pool!.upstreams.length === 1;
    const bounds = isAlone
      ? [0, 1].map((random) => resendWaitMs(1, usualLatencyMs, timeoutMs, random))
      : [hedgeWaitMs(usualLatencyMs), hedgeWaitMs(usualLatencyMs)];
    // Half of the time limit remains for the resolver.
    return bounds.map((ms) => Math.round(Math.min(ms, timeoutMs / 2)));
  }

  private introduce(upstream: Upstream, place: number): void {
    const at = firstServerAt(place);
    new Uint8Array(this.memory, at, 16).set(addressFromText(upstream.fixedAddress!)!);
    const numbers = new Int32Array(this.memory, at + FirstServerRecord.PORT, 2);
    numbers[0] = upstream.settings.port;
    numbers[1] = upstream.index;
    upstream.health.first = new SharedAnswers(this.memory, at);
  }

  /** Changes the memory; the sequence number lets readers detect a write during their read. */
  private write(change: () => void): void {
    // The sequence number is already odd if this thread's predecessor died during a write.
    Atomics.or(this.head, FirstServersHead.SEQUENCE_WORD, 1);
    change();
    Atomics.add(this.head, FirstServersHead.SEQUENCE_WORD, 1);
  }
}

/** The counts of one server, which the answer thread writes. */
class SharedAnswers implements FirstAnswers {
  private readonly counts: Int32Array;
  private readonly times: Float64Array;
  private readonly recent: Float32Array;
  private readonly classes: Int32Array;
  private asked = 0;
  private answered = 0;
  private silent = 0;
  private sumMs = 0;
  private readonly counted: number[] = new Array<number>(LATENCY_CLASSES).fill(0);

  constructor(memory: SharedArrayBuffer, at: number) {
    this.counts = new Int32Array(memory, at + FirstServerRecord.ASKED, 3);
    this.times = new Float64Array(memory, at + FirstServerRecord.LAST_ANSWER_MS, 2);
    this.recent = new Float32Array(memory, at + FirstServerRecord.RECENT, RECENT_LATENCIES);
    this.classes = new Int32Array(memory, at + FirstServerRecord.CLASSES, LATENCY_CLASSES);
  }

  get lastAnswerMs(): number {
    return this.times[0]! || -1;
  }

  takeNews(): FirstNews {
    const answeredNow = Atomics.load(this.counts, 1);
    const asked = (Atomics.load(this.counts, 0) - this.asked) | 0;
    const answered = (answeredNow - this.answered) | 0;
    const silent = (Atomics.load(this.counts, 2) - this.silent) | 0;
    const sumMs = this.times[1]! - this.sumMs;
    const latenciesMs: number[] = [];
    for (let n = answeredNow - Math.min(answered, RECENT_LATENCIES); n < answeredNow; n++)
      latenciesMs.push(this.recent[n & (RECENT_LATENCIES - 1)]!);
    const classes = this.counted.map((before, index) => (this.classes[index]! - before) | 0);
    classes.forEach((answers, index) => (this.counted[index] = (this.counted[index]! + answers) | 0));
    this.asked = (this.asked + asked) | 0;
    this.answered = answeredNow;
    this.silent = (this.silent + silent) | 0;
    this.sumMs += sumMs;
    return { asked, answered, silent, classes, sumMs, latenciesMs };
  }
}
