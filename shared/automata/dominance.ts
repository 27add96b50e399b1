/**
 * Finds positions of a program that another position dominates: after the same bytes, all rules found from the
 * dominated position are also found from the dominating one (a simulation, Milner 1971). A set of positions is
 * equivalent to the same set without its dominated positions, so `ads.{0,40}x` has one state per distance since `ads`,
 * not one per set of distances.
 */
import { Assertion, ByteOp, type ByteProgram } from '../policy/regex.ts';

/** Limits: the positions of larger programs are not compared. */
const MAX_PLACES = 400;
const MAX_WAYS = 2_000;
const NEW_LINES = Assertion.BEGIN_LINE | Assertion.END_LINE;

/** The result, and the number of pairs of transitions examined. */
export interface Dominance {
  /** For each instruction, the instructions that dominate it; null = unknown. */
  readonly dominators: readonly (readonly number[])[] | null;
  readonly work: number;
}

/** Finds the dominated positions of `program`. */
export function findDominance(program: ByteProgram): Dominance {
  const { ops, args } = program;
  const places = [...ops.keys()].filter((at) => ops[at] === ByteOp.OCTET);
  const looksAtLines = ops.some((op, at) => op === ByteOp.ASSERT && (args[at]! & NEW_LINES) !== 0);
  // Assertions about lines make the continuation depend on the byte that was read.
  if (places.length > MAX_PLACES || looksAtLines) return { dominators: null, work: 0 };
  const ways = places.map((place) => waysFrom(program, program.outs[place]!));
  if (ways.reduce((sum, { length }) => sum + length, 0) > MAX_WAYS) return { dominators: null, work: 0 };
  const simulation = new Simulation(program, places, ways);
  simulation.refute();
  return { dominators: simulation.dominators(ops.length), work: simulation.work };
}

/** The dominance relation between positions: it is assumed for all pairs until refuted. */
class Simulation {
  work = 0;
  private readonly places: readonly number[];
  private readonly ways: readonly Int32Array[];
  /** For each instruction, its index among the positions; -1 = not a position. */
  private readonly numberOf: Int32Array;
  /** Whether position `p` dominates position `q`, at `p * places + q`. */
  private readonly holds: Uint8Array;

  constructor({ ops, args, sets }: ByteProgram, places: readonly number[], ways: readonly Int32Array[]) {
    const count = places.length;
    this.places = places;
    this.ways = ways;
    this.numberOf = new Int32Array(ops.length).fill(-1);
    for (const [number, place] of places.entries()) this.numberOf[place] = number;
    const included = sets.map((set) => sets.map((part) => includes(set, part)));
    this.holds = new Uint8Array(count * count);
    for (let p = 0; p < count; p++)
      for (let q = 0; q < count; q++)
        this.holds[p * count + q] = included[args[places[p]!]!]![args[places[q]!]!]! ? 1 : 0;
  }

  /** Refutes pairs until nothing changes. */
  refute(): void {
    const { holds } = this;
    const count = this.places.length;
    for (let isStable = false; !isStable;) {
      isStable = true;
      // Start from the end, where expanded repetitions have their last iteration.
      for (let p = count - 1; p >= 0; p--)
        for (let q = count - 1; q >= 0; q--) {
          if (p === q || holds[p * count + q] === 0 || this.standsIn(this.ways[p]!, this.ways[q]!)) continue;
          holds[p * count + q] = 0;
          isStable = false;
        }
      this.work += count * count;
    }
  }

  /** For each of `size` instructions, the instructions that dominate it. */
  dominators(size: number): number[][] {
    const { places, holds } = this;
    const count = places.length;
    const dominators: number[][] = Array.from({ length: size }, () => []);
    for (let q = 0; q < count; q++)
      for (let p = 0; p < count; p++) {
        // If two positions dominate each other, keep one of them.
        const isOther = p !== q && holds[p * count + q] === 1;
        if (isOther && (p < q || holds[q * count + p] === 0)) dominators[places[q]!]!.push(places[p]!);
      }
    return dominators;
  }

  /** Whether each of the `others` transitions is dominated by one of `ways`. */
  private standsIn(ways: Int32Array, others: Int32Array): boolean {
    const { numberOf, holds } = this;
    const count = this.places.length;
    for (let at = 0; at < others.length; at++) {
      const other = others[at]!;
      const q = numberOf[other]!;
      let isFound = false;
      for (let by = 0; by < ways.length && !isFound; by++) {
        const way = ways[by]!;
        const p = numberOf[way]!;
        isFound = way === other || (p >= 0 && q >= 0 && holds[p * count + q] === 1);
        this.work++;
      }
      if (!isFound) return false;
    }
    return true;
  }
}

/** Byte tests, matches, and assertions about the next byte that are reached from `from` without reading a byte. */
function waysFrom({ ops, outs, args }: ByteProgram, from: number): Int32Array {
  const found: number[] = [];
  const seen = new Set<number>();
  const stack = [from];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    if (ops[at] === ByteOp.ALTERNATIVES) stack.push(args[at]!, outs[at]!);
    else if (ops[at] === ByteOp.JUMP) stack.push(outs[at]!);
    else if (ops[at] !== ByteOp.FAIL && !asksForBeginning(ops[at]!, args[at]!)) found.push(at);
  }
  return Int32Array.from(found);
}

function asksForBeginning(op: number, bits: number): boolean {
  return op === ByteOp.ASSERT && (bits & Assertion.BEGIN_TEXT) !== 0;
}

function includes(set: Uint8Array, part: Uint8Array): boolean {
  return part.every((flag, octet) => flag === 0 || set[octet] === 1);
}
