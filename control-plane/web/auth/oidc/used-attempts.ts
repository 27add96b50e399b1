/**
 * Logins through a provider that were finished on this node, so that each is accepted once: someone who later learns
 * the cookie and the URL of a callback cannot open another session with them. Across nodes, the provider ensures this,
 * because it accepts a code once. The states are kept in memory, and their number is limited.
 */

/** Maximum number of states; the oldest is evicted. */
const MAX_STATES = 10_000;

/** The states of finished logins, in order of arrival. */
export class UsedAttempts {
  private readonly states = new Set<string>();

  /** Marks a login as finished; false if it already was. */
  use(state: string): boolean {
    if (this.states.has(state)) return false;
    this.states.add(state);
    if (this.states.size > MAX_STATES) this.states.delete(this.states.values().next().value!);
    return true;
  }
}
