/**
 * Logins at a provider that this node has finished, so that each counts once: anyone who learns the cookie and the
 * address of a callback later cannot open another session with them. Other nodes leave that to the provider, which takes
 * a code once. In memory, and bounded.
 */

/** States at most; the oldest is forgotten. */
const MOST_STATES = 10_000;

/** The states of finished logins, in the order in which they came. */
export class UsedAttempts {
  private readonly states = new Set<string>();

  /** Notes a login as finished; false if it is already. */
  use(state: string): boolean {
    if (this.states.has(state)) return false;
    this.states.add(state);
    if (this.states.size > MOST_STATES) this.states.delete(this.states.values().next().value!);
    return true;
  }
}
