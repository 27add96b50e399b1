/** How many stream connections are open, in all and by client address, and whether one more may be. */

/** Counts connections; shared by all listeners of a thread that share the limits. */
export class ConnectionLimit {
  readonly #maxPerIp: number;
  readonly #max: number;
  readonly #byIp = new Map<string, number>();
  #open = 0;

  /** `maxPerIp` 0 = unlimited. */
  constructor(maxPerIp: number, max: number) {
    this.#maxPerIp = maxPerIp;
    this.#max = max;
  }

  /** Counts a connection of this address in; false, and nothing counted, where a limit is reached. */
  enter(ip: string): boolean {
    const already = this.#byIp.get(ip) ?? 0;
    if (this.#open >= this.#max || (this.#maxPerIp > 0 && already >= this.#maxPerIp)) return false;
    this.#byIp.set(ip, already + 1);
    this.#open++;
    return true;
  }

  /** Counts a connection that was let in out again. */
  leave(ip: string): void {
    const already = this.#byIp.get(ip) ?? 0;
    if (already > 1) this.#byIp.set(ip, already - 1);
    else this.#byIp.delete(ip);
    this.#open--;
  }

  /** Connections open now. */
  get open(): number {
    return this.#open;
  }
}
