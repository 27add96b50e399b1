/**
 * Listeners for NOTIFY, and the watched expression. They remain after a server is lost; each new connection subscribes
 * again.
 */

/** Receives the payload of a notification. */
export type NoticeListener = (payload: string) => void;

/**
 * An expression that each liveness check evaluates, and also immediately when a notification arrives on its channel.
 */
export interface Watch {
  readonly channel: string;
  /** An SQL expression. */
  readonly expression: string;
  /** Receives the value of the expression. */
  readonly take: (value: unknown) => void;
}

/** The listeners by channel, and the watched expression. */
export class NoticeListeners {
  private readonly byChannel = new Map<string, Set<NoticeListener>>();
  /** Channels for which the current server is known to send notifications. */
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

  /** Whether the current server sends the notifications of a channel. */
  isListeningTo(channel: string): boolean {
    return this.heard.has(channel);
  }

  /** Sets whether the current server sends the notifications of a channel. */
  setListening(channel: string, isListeningTo: boolean): void {
    if (isListeningTo) this.heard.add(channel);
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
