/** A target of fuzzing: some of the product's code, and what must hold for it with any bytes. */

/** One target; `targets.ts` lists them. */
export interface Target {
  /** Good inputs to begin with, new ones with each call. */
  readonly seeds: () => readonly Uint8Array[];
  /** Words that inputs are made of, beside the literals of the code. */
  readonly dictionary?: readonly (string | Uint8Array)[];
  /** Longest input. */
  readonly maxLength: number;
  /** A run takes more than a millisecond: `npm test` makes fewer. */
  readonly isSlow?: boolean;
  /** Runs one input; throws if something that must hold does not. Must keep no state between inputs. */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

/** Something that must hold does not. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Throws a Violation that says `what`, unless it holds. */
export function hold(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Violation(what);
}

/** Takes an input apart: first what it decides by numbers, then the rest. */
export class InputReader {
  private readonly input: Uint8Array;
  private at = 0;

  constructor(input: Uint8Array) {
    this.input = input;
  }

  /** The next byte; 0 after the end. */
  octet(): number {
    return this.input[this.at++] ?? 0;
  }

  /** One of several. */
  of<T>(values: readonly T[]): T {
    return values[this.octet() % values.length]!;
  }

  /** Copies the rest of the input. */
  rest(): Uint8Array {
    return this.input.slice(this.at);
  }
}

/** The bytes of a text. */
export function octetsOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'));
}

/** The input surrounded by `poison` bytes, which code that reads beyond its input sees. */
export function amid(octets: Uint8Array, poison: number, before: number, behind: number): Uint8Array {
  const whole = new Uint8Array(before + octets.length + behind).fill(poison);
  whole.set(octets, before);
  return whole;
}

/** A text of a value by which two values can be compared; it distinguishes byte arrays and numbers of any size. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (ArrayBuffer.isView(inner))
      return Buffer.from(inner.buffer, inner.byteOffset, inner.byteLength).toString('hex');
    if (typeof inner === 'bigint' || typeof inner === 'undefined' || Object.is(inner, -0))
      return String(inner);
    return inner instanceof Map || inner instanceof Set ? [...inner] : inner;
  });
}
