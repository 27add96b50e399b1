/**
 * Converts a program to a deterministic automaton: a state is the set of positions at which the program may be (the
 * subset construction, Rabin and Scott 1959). The number of sets can be exponential, so states and work have limits. A
 * match may start anywhere; the automaton finds a match when the last byte of the match is read or, if an assertion
 * looks ahead, one byte later.
 */
import { findDominance } from './dominance.ts';
import { type LineReason, lineReason } from '../policy/reasons/line-reasons.ts';
import { Assertion, ByteOp, type ByteProgram } from '../policy/regex.ts';
import {
  type Automaton,
  MAX_TABLE_ENTRIES,
  MAX_TEXT_LENGTH,
  StateTable,
  scatter,
  tableEntries,
} from './automaton.ts';
import { NEWLINE, classifyOctets, isWordOctet } from './octet-classes.ts';

/** The result of determinizing a program; `work` is the number of instructions visited, also on failure. */
export type Determinized =
  | { readonly automaton: Automaton; readonly work: number }
  | { readonly reason: LineReason; readonly work: number };

/** Value for the end of the name, used in place of a byte. */
const END = -1;
const { BEGIN_LINE, BEGIN_TEXT, END_LINE, END_TEXT, WORD_BOUNDARY, NO_WORD_BOUNDARY } = Assertion;
const NO_CONTEXT = -1;
const BEGINS = BEGIN_LINE | BEGIN_TEXT;
const BOUNDARIES = WORD_BOUNDARY | NO_WORD_BOUNDARY;

/** Determinizes a program, for at most `maxWork` visits of instructions. */
export function determinize(program: ByteProgram, maxWork: number): Determinized {
  const build = new Determinizer(program, maxWork);
  const reason = build.run();
  return reason === null ? { automaton: build.finish(), work: build.work } : { reason, work: build.work };
}

class Determinizer {
  work = 0;
  private start = 0;
  private readonly program: ByteProgram;
  private readonly maxWork: number;
  private readonly classOf: Uint8Array;
  private readonly representatives: readonly number[];
  private readonly usesWords: boolean;
  private readonly usesLines: boolean;
  private readonly states = new StateTable();
  /** For each state: its positions, the class of the byte before it, and whether a match was found on the way to it. */
  private readonly places: Int32Array[] = [];
  private readonly matches: boolean[] = [];
  private readonly asserts: boolean[] = [];
  private readonly contexts: number[] = [];
  private readonly late: boolean[] = [];
  private readonly depths: number[] = [];
  private readonly next: number[] = [];
  private readonly atEnd: boolean[] = [];
  /** Positions of the set under construction; `marks` records the instructions that were visited for this set. */
  private readonly set: Int32Array;
  private setSize = 0;
  private setMatches = false;
  private setAsserts = false;
  private readonly kernel: Int32Array;
  private readonly stack: Int32Array;
  private readonly marks: Int32Array;
  private readonly placed: Int32Array;
  private mark = 0;
  private readonly dominators: readonly (readonly number[])[] | null;

  constructor(program: ByteProgram, maxWork: number) {
    this.program = program;
    this.maxWork = maxWork;
    let asserts = 0;
    for (const [at, op] of program.ops.entries()) if (op === ByteOp.ASSERT) asserts |= program.args[at]!;
    this.usesWords = (asserts & BOUNDARIES) !== 0;
    this.usesLines = (asserts & (BEGIN_LINE | END_LINE)) !== 0;
    const { classOf, representatives } = classifyOctets(program, this.usesWords, this.usesLines);
    this.classOf = classOf;
    this.representatives = representatives;
    const size = program.ops.length;
    this.set = new Int32Array(size);
    this.kernel = new Int32Array(size + 1);
    // Each instruction is pushed onto the stack by at most two others.
    this.stack = new Int32Array(2 * size + 2);
    this.marks = new Int32Array(size);
    this.placed = new Int32Array(size);
    const { dominators, work } = findDominance(program);
    this.dominators = dominators;
    this.work = work;
  }

  /** Runs the construction; null if successful, or the reason why the construction was given up. */
  run(): LineReason | null {
    const classCount = this.representatives.length;
    const maxStates = Math.floor(MAX_TABLE_ENTRIES / tableEntries(1, classCount));
    // Add state 0, the dead state: no set is equal to it.
    this.addState(
      this.states.find(0, () => false),
      new Int32Array(0),
      NO_CONTEXT,
      false,
      0,
    );
    this.beginSet();
    this.visit(this.program.start, BEGINS);
    this.start = this.endSet(BEGINS, false, 0);
    for (let state = 0; state < this.states.size; state++) {
      for (const octet of this.representatives) this.next.push(this.step(state, octet));
      this.atEnd.push(this.matchesAtEnd(state));
      if (this.work > this.maxWork) return lineReason('too_slow');
      if (this.states.size > maxStates) return lineReason('too_many_states', { count: maxStates });
    }
    return null;
  }

  finish(): Automaton {
    const stateCount = this.states.size;
    const found = new Uint32Array(stateCount);
    const foundAtEnd = new Uint32Array(stateCount);
    for (let state = 0; state < stateCount; state++) {
      found[state] = this.late[state]! || this.matches[state]! ? 1 : 0;
      foundAtEnd[state] = this.atEnd[state]! ? 1 : 0;
    }
    const classCount = this.representatives.length;
    const next = Uint16Array.from(this.next);
    return {
      ruleCount: 1,
      start: this.start,
      stateCount,
      classOf: this.classOf,
      classCount,
      next,
      found,
      foundAtEnd,
    };
  }

  /** The state after `octet`. */
  private step(state: number, octet: number): number {
    // Beyond the maximum length of a name, and from the dead state, nothing can be found.
    if (this.depths[state]! >= MAX_TEXT_LENGTH || state === 0) return 0;
    const { ops, outs, args, sets, start } = this.program;
    const { kernel } = this;
    const places = this.placesBefore(state, octet);
    const late = this.setMatches && !this.matches[state]!;
    let kernelSize = 0;
    for (let at = 0; at < places.length; at++) {
      const place = places[at]!;
      if (ops[place] === ByteOp.OCTET && sets[args[place]!]![octet] === 1)
        kernel[kernelSize++] = outs[place]!;
    }
    this.work += places.length;
    const begins = octet === NEWLINE ? BEGIN_LINE : 0;
    this.beginSet();
    for (let at = 0; at < kernelSize; at++) this.visit(kernel[at]!, begins);
    // Also visit the start: a match may begin after this byte.
    this.visit(start, begins);
    const isWord = this.usesWords && isWordOctet(octet);
    return this.endSet(begins | (isWord ? WORD_BOUNDARY : 0), late, this.depths[state]! + 1);
  }

  private matchesAtEnd(state: number): boolean {
    this.placesBefore(state, END);
    return this.setMatches && !this.matches[state]!;
  }

  /**
   * The positions of a state, and those that can be reached because an assertion holds before `octet`; sets
   * `setMatches` if there is a match.
   */
  private placesBefore(state: number, octet: number): Int32Array {
    const places = this.places[state]!;
    this.setMatches = this.matches[state]!;
    if (!this.asserts[state]!) return places;
    const context = this.contexts[state]!;
    let holds = context & BEGINS;
    if (octet === END) holds |= END_LINE | END_TEXT;
    if (octet === NEWLINE) holds |= END_LINE;
    const wasWord = (context & WORD_BOUNDARY) !== 0;
    const isWord = octet !== END && isWordOctet(octet);
    holds |= wasWord === isWord ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
    this.beginSet();
    for (let at = 0; at < places.length; at++) this.visit(places[at]!, holds);
    return this.set.subarray(0, this.setSize);
  }

  private beginSet(): void {
    this.mark++;
    this.setSize = 0;
    this.setMatches = false;
    this.setAsserts = false;
  }

  /**
   * Adds an instruction and all instructions that can be reached from it without reading a byte, if the assertions in
   * `holds` hold.
   */
  private visit(from: number, holds: number): void {
    const { stack, marks, mark } = this;
    const { ops, outs, args } = this.program;
    let top = 0;
    stack[top++] = from;
    while (top > 0) {
      const at = stack[--top]!;
      if (marks[at] === mark) continue;
      marks[at] = mark;
      this.work++;
      switch (ops[at]) {
        case ByteOp.ALTERNATIVES:
          stack[top++] = args[at]!;
          stack[top++] = outs[at]!;
          break;
        case ByteOp.JUMP:
          stack[top++] = outs[at]!;
          break;
        case ByteOp.ASSERT:
          if ((args[at]! & ~holds) === 0) stack[top++] = outs[at]!;
          // An assertion about the beginning of the name or line can no longer hold; any other assertion depends on the
          // next byte.
          else if ((args[at]! & BEGINS & ~holds) === 0) {
            this.setAsserts = true;
            this.place(at);
          }
          break;
        case ByteOp.OCTET:
          this.place(at);
          break;
        case ByteOp.MATCH:
          this.setMatches = true;
          this.place(at);
          break;
        default:
      }
    }
  }

  private place(at: number): void {
    this.placed[at] = this.mark;
    this.set[this.setSize++] = at;
  }

  /** The state of the positions in `set`; creates it if it is new. */
  private endSet(contextBefore: number, late: boolean, depth: number): number {
    this.dropDominated();
    const size = this.setSize;
    // A state without positions can get new positions only at the start of a line.
    if (size === 0 && !late && !this.usesLines) return 0;
    const now = this.set.subarray(0, size);
    const context = this.setAsserts ? contextBefore : 0;
    let hash = size * 31 + context * 2 + (late ? 1 : 0);
    // The hash must not depend on the order of the positions.
    for (let at = 0; at < size; at++) hash = (hash + scatter(now[at]! + 1)) | 0;
    const { mark, placed } = this;
    const state = this.states.find(hash, (known) => {
      const places = this.places[known]!;
      if (places.length !== size || this.contexts[known] !== context || this.late[known] !== late)
        return false;
      this.work += size;
      for (let at = 0; at < size; at++) if (placed[places[at]!] !== mark) return false;
      return true;
    });
    if (state === this.places.length) this.addState(state, now.slice(), context, late, depth);
    return state;
  }

  /** Removes positions that other positions in the set dominate. */
  private dropDominated(): void {
    const { dominators, set, placed, mark } = this;
    if (dominators === null) return;
    let kept = 0;
    for (let at = 0; at < this.setSize; at++) {
      const place = set[at]!;
      const others = dominators[place]!;
      let isDominated = false;
      for (let other = 0; other < others.length && !isDominated; other++)
        isDominated = placed[others[other]!] === mark;
      this.work += others.length;
      if (isDominated) placed[place] = 0;
      else set[kept++] = place;
    }
    this.setSize = kept;
  }

  private addState(state: number, places: Int32Array, context: number, late: boolean, depth: number): void {
    this.places[state] = places;
    this.matches[state] = this.setMatches;
    this.asserts[state] = this.setAsserts;
    this.contexts[state] = context;
    this.late[state] = late;
    this.depths[state] = depth;
  }
}
