/**
 * Streams of this node's state as server-sent events, for pages that show it: the state is sent immediately and after
 * each change. A comment is sent every second, so that a reader notices a lost connection within seconds. No work is
 * done while no stream is open.
 */
import type { ServerResponse } from 'node:http';
import type { StatusEvent } from '../../../shared/api/policy/status-api.ts';
import type { Logger } from '../../../shared/log.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { dependencyUnavailable } from '../../api/api-error.ts';
import { Places } from '../../api/places.ts';
import type { PlaceLimits } from '../../api/places.ts';

export interface StatusStreamsParts {
  /** The current state, from memory; if `version` is unchanged, only time-dependent values have changed. */
  readonly read: () => { readonly event: StatusEvent; readonly version: string };
  /**
   * `onEnded()` registers a listener for the event that sessions may have ended; returns a function that removes the
   * listener.
   */
  readonly sessions: { onEnded(listener: () => void): () => void };
  readonly logger: Logger;
  /** Milliseconds between two comments. */
  readonly tickMs?: number;
}

/** A request for the stream. */
export interface StatusRequest {
  /** Caller for which the stream counts towards the limit (`holderOf`). */
  readonly holder: string | null;
  /** Checks permission, see `TailRequest`. */
  readonly isAllowed: () => Promise<boolean>;
}

/** One reader. */
interface Stream {
  readonly response: ServerResponse;
  readonly isAllowed: () => Promise<boolean>;
  /** The version that was sent last; null = none. */
  version: string | null;
  isChecking: boolean;
}

const TICK_MS = 1000;
/** Ticks between two checks of whether a reader may continue. */
const CHECK_TICKS = 5;
/** Maximum number of open streams of all callers together, and of one user; each visible page needs one. */
export const STATUS_STREAM_LIMITS: PlaceLimits = { total: 32, perCaller: 8 };

/** All streams of a node. */
export class StatusStreams {
  private readonly parts: StatusStreamsParts;
  private readonly streams = new Set<Stream>();
  private readonly places = new Places('status streams', STATUS_STREAM_LIMITS);
  private readonly stopWatching: () => void;
  private timer: NodeJS.Timeout | null = null;
  private ticks = 0;
  private isClosed = false;

  constructor(parts: StatusStreamsParts) {
    this.parts = parts;
    this.stopWatching = parts.sessions.onEnded(() => {
      for (const stream of this.streams) this.check(stream);
    });
  }

  /** Rejects a stream if the limit is reached. @throws {ApiError} */
  admit(holder: string | null): void {
    if (this.isClosed) throw dependencyUnavailable('running_node', 'Weir is stopping');
    this.places.admit(holder);
  }

  /** Sends the state as the body of a response until it ends. @throws {ApiError} as `admit()` */
  async send(response: ServerResponse, { holder, isAllowed }: StatusRequest): Promise<void> {
    this.admit(holder);
    const stream: Stream = { response, isAllowed, version: null, isChecking: false };
    // The client may have disconnected while its session was looked up; there is no event in that case.
    if (response.destroyed) return;
    const leave = this.places.take(holder);
    const ended = new Promise((resolve) => response.once('close', resolve).once('finish', resolve));
    this.streams.add(stream);
    this.timer ??= setInterval(() => this.tick(), this.parts.tickMs ?? TICK_MS);
    this.sendChange(stream);
    await ended;
    leave();
    this.streams.delete(stream);
    if (this.streams.size === 0) this.stop();
  }

  /** Ends all streams. */
  close(): void {
    this.isClosed = true;
    this.stopWatching();
    this.stop();
    for (const { response } of this.streams) end(response);
  }

  private stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private tick(): void {
    const isDue = ++this.ticks % CHECK_TICKS === 0;
    for (const stream of this.streams) {
      if (isDue && stream.isChecking) end(stream.response);
      else if (isDue) this.check(stream);
      // A reader that does not read the stream gets no comments.
      if (stream.response.writableNeedDrain || stream.response.writableEnded) continue;
      if (stream.isChecking || !this.sendChange(stream)) stream.response.write(':\n\n');
    }
  }

  /** Sends the state unless the same state was sent last; returns whether it was sent. */
  private sendChange(stream: Stream): boolean {
    try {
      const { event, version } = this.parts.read();
      if (version === stream.version) return false;
      stream.version = version;
      stream.response.write(`data: ${JSON.stringify(event)}\n\n`);
      return true;
    } catch (error) {
      this.parts.logger.error('could not read the state of this node', { reason: reasonOf(error) });
      return false;
    }
  }

  /**
   * Checks whether a stream may continue; ends the stream if it may not, or if the check has no result until the next
   * one.
   */
  private check(stream: Stream): void {
    if (stream.isChecking) return;
    stream.isChecking = true;
    stream.isAllowed().then(
      (isAllowed) => {
        stream.isChecking = false;
        if (!isAllowed) end(stream.response);
      },
      () => end(stream.response),
    );
  }
}

/** Unread data is discarded, because a slow reader would delay the end. */
function end(response: ServerResponse): void {
  if (response.writableLength > 0) response.destroy();
  else response.end();
}
