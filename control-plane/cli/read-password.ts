/**
 * Reads a password: from a terminal without echo, or as one line from any other standard input. `set-password.ts`
 * checks and stores it.
 */
import type { Readable } from 'node:stream';

/** Standard input; a terminal has `setRawMode`. */
export type PasswordInput = Readable & {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
};

/** Error: the user pressed Ctrl-C, or Ctrl-D on an empty line. */
export class PromptAborted extends Error {
  override readonly name = 'PromptAborted';
}

const MAX_CHARACTERS = 4096;

/** Reads lines of `input`; call `close` after the last one. */
export class PasswordReader {
  private readonly input: PasswordInput;
  private readonly characters: AsyncIterator<string>;

  constructor(input: PasswordInput) {
    this.input = input;
    this.characters = charactersOf(input);
  }

  /** True if a person is typing. */
  get interactive(): boolean {
    return this.input.isTTY === true;
  }

  /** One line without its line end. May throw PromptAborted. A line of more than 4,096 characters is truncated. */
  async readLine(): Promise<string> {
    if (!this.interactive) return this.collect(false);
    this.input.setRawMode?.(true);
    try {
      return await this.collect(true);
    } finally {
      this.input.setRawMode?.(false);
    }
  }

  /** Releases the input, so that the process can end. */
  close(): void {
    this.input.destroy();
  }

  private async collect(keys: boolean): Promise<string> {
    const line: string[] = [];
    for (;;) {
      const next = await this.characters.next();
      if (next.done === true) return line.join('').replace(/\r$/u, '');
      const character = next.value;
      if (character === '\n' || (keys && character === '\r')) return line.join('').replace(/\r$/u, '');
      if (keys && (character === '\u0003' || (character === '\u0004' && line.length === 0))) {
        throw new PromptAborted('no password was given');
      }
      if (keys && (character === '\u007f' || character === '\b')) line.pop();
      else if (line.length < MAX_CHARACTERS) line.push(character);
    }
  }
}

/** The characters of a byte stream, including characters that are split across two chunks. */
async function* charactersOf(input: Readable): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  for await (const chunk of input) {
    const bytes: Uint8Array = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
    yield* decoder.decode(bytes, { stream: true });
  }
  return undefined;
}
