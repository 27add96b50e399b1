/** A fuzzing target: a part of the product's code, and properties that must hold for any bytes. */

/** A target; `targets.ts` lists them. */
export interface Target {
  /** Valid inputs to start with; each call returns new arrays. */
  readonly seeds: () => readonly Uint8Array[];
  /** Words that inputs consist of, in addition to the literals of the code. */
  readonly dictionary?: readonly (string | Uint8Array)[];
  /** Maximum length of an input. */
  readonly maxLength: number;
  /** Whether a run takes more than a millisecond; `npm test` makes fewer runs of such a target. */
  readonly isSlow?: boolean;
  /** Runs one input; throws if a property is violated. Must keep no state between inputs. */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

/** A violated property. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** Throws a Violation with the message `what` unless the condition is true. */
export function hold(isSo: boolean, what: string): asserts isSo {
  if (!isSo) throw new Violation(what);
}

/** Reads an input: its first bytes select options, the remaining bytes are data. */
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

  /** One of several values. */
  of<T>(values: readonly T[]): T {
    return values[this.octet() % values.length]!;
  }

  /** A copy of the rest of the input. */
  rest(): Uint8Array {
    return this.input.slice(this.at);
  }
}

/** The bytes of a string. */
export function octetsOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'));
}

/** The input surrounded by `poison` bytes, so that code which reads beyond its input gets different results. */
export function surrounded(octets: Uint8Array, poison: number, before: number, behind: number): Uint8Array {
  const whole = new Uint8Array(before + octets.length + behind).fill(poison);
  whole.set(octets, before);
  return whole;
}

/** Text form of a value for comparisons; it distinguishes byte arrays and numbers of any size. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (ArrayBuffer.isView(inner))
      return Buffer.from(inner.buffer, inner.byteOffset, inner.byteLength).toString('hex');
    if (typeof inner === 'bigint' || typeof inner === 'undefined' || Object.is(inner, -0))
      return String(inner);
    return inner instanceof Map || inner instanceof Set ? [...inner] : inner;
  });
}
