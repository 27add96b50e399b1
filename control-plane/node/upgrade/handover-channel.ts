/** Messages as lines of JSON over a connection of the handover socket; one side sends while the other waits. */
import type { Socket } from 'node:net';

/** A message; its other fields depend on its type. */
export interface HandoverMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Error: the other side has ended, does not respond, or violates the protocol. */
export class HandoverError extends Error {
  override readonly name = 'HandoverError';
}

/** Maximum size of a message in bytes. */
const MAX_LINE = 16 * 1024;

/** One side of a connection. */
export class HandoverChannel {
  readonly socket: Socket;
  private text = '';
  private readonly lines: string[] = [];
  private fault: HandoverError | undefined;
  private wake: () => void = () => undefined;
  private readonly ending: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.receive(chunk));
    // The error is ignored, because a 'close' event follows.
    socket.on('error', () => undefined);
    this.ending = new Promise((resolve) => {
      const end = (): void => {
        this.fail('the other process has ended');
        resolve();
      };
      socket.once('end', end);
      socket.once('close', end);
    });
  }

  /** Sends a message; does nothing if the other process has ended. */
  send(message: HandoverMessage): void {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message. @throws {HandoverError} */
  async next(withinMs: number): Promise<HandoverMessage> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const line = this.lines.shift();
      if (line !== undefined) return parsed(line);
      if (this.fault !== undefined) throw this.fault;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0)
        throw new HandoverError(`the other process has been silent for ${String(withinMs / 1000)} s`);
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, leftMs);
        this.wake = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
  }

  /**
   * The next message, which must have this type. @throws {HandoverError} if not; if the other side reports a failure,
   * with its reason
   */
  async expect(type: string, withinMs: number): Promise<HandoverMessage> {
    const message = await this.next(withinMs);
    if (message.type === type) return message;
    throw new HandoverError(
      message.type === 'failed'
        ? textField(message, 'reason')
        : `expected "${type}", got "${message.type.slice(0, 40)}"`,
    );
  }

  /** Resolves when the other process has ended. */
  ended(): Promise<void> {
    return this.ending;
  }

  /** Ends the connection after the messages that were sent. */
  end(): void {
    this.socket.end();
    this.socket.destroySoon();
  }

  private receive(chunk: string): void {
    this.text += chunk;
    const lines = this.text.split('\n');
    this.text = lines.pop()!;
    this.lines.push(...lines);
    if (this.text.length > MAX_LINE) {
      this.fail('a message of the other process is too long');
      this.socket.destroy();
    }
    this.wake();
  }

  private fail(reason: string): void {
    this.fault ??= new HandoverError(this.text === '' ? reason : `${reason}, in the middle of a message`);
    this.wake();
  }
}

/** The value of a field that must be a text. @throws {HandoverError} */
export function textField(message: HandoverMessage, field: string): string {
  const value = message[field];
  if (typeof value === 'string') return value;
  throw new HandoverError(`message "${message.type}" has no text "${field}"`);
}

/** The value of a field that must be a non-negative integer. @throws {HandoverError} */
export function numberOf(message: HandoverMessage, field: string): number {
  const value = message[field];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new HandoverError(`message "${message.type}" has no number "${field}"`);
}

function parsed(line: string): HandoverMessage {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string')
      return value as HandoverMessage;
  } catch {
    // The error is thrown below.
  }
  throw new HandoverError('the other process violates the protocol');
}
