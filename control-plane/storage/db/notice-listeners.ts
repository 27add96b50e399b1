/** Listeners to NOTIFY, and the watched expression. Outlives a server: each new connection subscribes again. */

/** Takes the payload of a notice. */
export type NoticeListener = (payload: string) => void;

/** An expression that each liveness check evaluates; at once when a notice arrives on its channel. */
export interface Watch {
  readonly channel: string;
  /** An SQL expression. */
  readonly expression: string;
  /** Takes its value. */
  readonly take: (value: unknown) => void;
}

/** The listeners by channel, and the watch. */
export class NoticeListeners {
  private readonly byChannel = new Map<string, Set<NoticeListener>>();
  /** Channels that the server in use is known to send notices of. */
  private readonly heard = new Set<string>();
  watched: Watch | null = null;

  channels(): Iterable<string> {
    return this.byChannel.keys();
  }

  /** Adds a listener; true for the first one of its channel. */
  add(channel: string, listener: NoticeListener): boolean {
    const listeners = this.byChannel.get(channel) ?? new Set();
    this.byChannel.set(channel, listeners.add(listener));
    return listeners.size === 1;
  }

  /** Whether the server in use sends the notices of a channel. */
  isHeard(channel: string): boolean {
    return this.heard.has(channel);
  }

  /** Whether the server in use now sends the notices of a channel. */
  setHeard(channel: string, isHeard: boolean): void {
    if (isHeard) this.heard.add(channel);
    else this.heard.delete(channel);
  }

  /** Removes a listener; true for the last one of its channel. */
  remove(channel: string, listener: NoticeListener): boolean {
    const listeners = this.byChannel.get(channel);
    if (listeners === undefined || !listeners.delete(listener) || listeners.size > 0) return false;
    return this.byChannel.delete(channel);
  }

  take(channel: string, payload: string): void {
    for (const listener of this.byChannel.get(channel) ?? []) listener(payload);
  }
}
