/**
 * Regular expressions in RE2 syntax, as programs over the bytes of a name. Only this file imports re2js, which parses
 * and compiles; `shared/automata` matches. `regex-literals.ts` finds the texts that must occur in every match.
 */
import { reasonOf } from '../errors.ts';
import { RE2JS, RE2Set } from 're2js';
import { type LineReason, libraryReason, lineReason } from './reasons/line-reasons.ts';
import { estimateProgramSize } from './regex-size.ts';

/** Operation of an instruction, with the names of RE2 (re2/prog.h). */
export const ByteOp = { FAIL: 0, ALTERNATIVES: 1, JUMP: 2, ASSERT: 3, OCTET: 4, MATCH: 5 } as const;

/** Conditions that an assertion checks at its position, as bits. */
export const Assertion = {
  BEGIN_LINE: 1,
  END_LINE: 2,
  BEGIN_TEXT: 4,
  END_TEXT: 8,
  WORD_BOUNDARY: 16,
  NO_WORD_BOUNDARY: 32,
} as const;

/** A Thompson program: it matches a name if some path from `start` to a MATCH reads a part of the name. */
export interface ByteProgram {
  /** `ByteOp` of each instruction. */
  readonly ops: Uint8Array;
  /** The instruction after each instruction; FAIL and MATCH have none. */
  readonly outs: Int32Array;
  /** Second branch of ALTERNATIVES, `Assertion` bits of ASSERT, index into `sets` of `ByteOp.OCTET`. */
  readonly args: Int32Array;
  readonly start: number;
  /** Sets of bytes, with 256 flags each. */
  readonly sets: readonly Uint8Array[];
}

/** The result of compiling a pattern; the text of `reason` fits into the middle of a sentence. */
export type ProgramOutcome =
  { readonly ok: true; readonly program: ByteProgram } | { readonly ok: false; readonly reason: LineReason };

const TOO_LARGE = { ok: false, reason: lineReason('too_large') } as const;

/** Maximum length of a pattern that is compiled, in characters. */
const MAX_PATTERN_LENGTH = 2048;
/** Maximum program size of a pattern, in instructions. */
const MAX_PROGRAM_SIZE = 10_000;

/**
 * Compiles a pattern, ignoring case; rejects look-around, back references and other syntax that cannot be matched in
 * linear time. A name is Latin-1 text in lower case, without its final dot.
 */
export function compileProgram(pattern: string): ProgramOutcome {
  if (pattern === '') return { ok: false, reason: lineReason('empty') };
  if (pattern.length > MAX_PATTERN_LENGTH)
    return { ok: false, reason: lineReason('too_long', { count: MAX_PATTERN_LENGTH }) };
  if (estimateProgramSize(pattern) > 2 * MAX_PROGRAM_SIZE) return TOO_LARGE;
  try {
    // Compile the pattern as a set of one, which omits captures and engines that are not needed here.
    const set = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE);
    set.add(pattern);
    set.compile();
    if (set.prog.numInst() > MAX_PROGRAM_SIZE) return TOO_LARGE;
    return { ok: true, program: toBytes(set.prog) };
  } catch (error) {
    return { ok: false, reason: libraryReason(reasonOf(error)) };
  }
}

/** The parts of re2js's programs that this file reads; re2js does not declare types for them. */
interface Re2Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: object;
  matchRune(rune: number): boolean;
}
interface Re2Program {
  readonly start: number;
  numInst(): number;
  getInst(at: number): Re2Instruction;
}

/** Operations of re2js (`Inst`). */
const Re2Op = {
  ALT: 1,
  ALT_MATCH: 2,
  CAPTURE: 3,
  EMPTY_WIDTH: 4,
  FAIL: 5,
  MATCH: 6,
  NOP: 7,
  RUNE: 8,
  LAST_RUNE: 11,
};

function toBytes(program: Re2Program): ByteProgram {
  const size = program.numInst();
  const ops = new Uint8Array(size);
  const outs = new Int32Array(size);
  const args = new Int32Array(size);
  const sets = new OctetSets();
  for (let at = 0; at < size; at++) {
    const instruction = program.getInst(at);
    outs[at] = instruction.out;
    ops[at] = opOf(instruction.op);
    if (ops[at] === ByteOp.OCTET) args[at] = sets.indexOf(instruction);
    else if (ops[at] === ByteOp.ALTERNATIVES || ops[at] === ByteOp.ASSERT) args[at] = instruction.arg;
  }
  return { ops, outs, args, start: program.start, sets: sets.all };
}

function opOf(op: number): number {
  switch (op) {
    case Re2Op.ALT:
    case Re2Op.ALT_MATCH:
      return ByteOp.ALTERNATIVES;
    case Re2Op.CAPTURE:
    case Re2Op.NOP:
      return ByteOp.JUMP;
    case Re2Op.EMPTY_WIDTH:
      return ByteOp.ASSERT;
    case Re2Op.FAIL:
      return ByteOp.FAIL;
    case Re2Op.MATCH:
      return ByteOp.MATCH;
    default:
      if (op >= Re2Op.RUNE && op <= Re2Op.LAST_RUNE) return ByteOp.OCTET;
      throw new Error(`instruction ${op} is unknown`);
  }
}

/** Collects sets of bytes without duplicates. */
class OctetSets {
  readonly all: Uint8Array[] = [];
  private readonly byContent = new Map<string, number>();
  /**
   * The copies of a repetition share their array of characters, so this cache avoids computing their sets again byte by
   * byte.
   */
  private readonly byRunes = new Map<object, Map<number, number>>();

  indexOf(instruction: Re2Instruction): number {
    const key = instruction.op * 1024 + instruction.arg;
    let known = this.byRunes.get(instruction.runes);
    if (known === undefined) {
      known = new Map<number, number>();
      this.byRunes.set(instruction.runes, known);
    }
    let index = known.get(key);
    if (index === undefined) known.set(key, (index = this.add(instruction)));
    return index;
  }

  private add(instruction: Re2Instruction): number {
    const set = new Uint8Array(256);
    for (let octet = 0; octet < 256; octet++) set[octet] = instruction.matchRune(octet) ? 1 : 0;
    const content = String.fromCharCode(...set);
    let index = this.byContent.get(content);
    if (index === undefined) this.byContent.set(content, (index = this.all.push(set) - 1));
    return index;
  }
}
