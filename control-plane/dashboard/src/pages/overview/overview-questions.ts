/** What the overview asks, for the page itself and for who asks ahead of it. */
import type { CallOf } from '../../../../../shared/api/client/typed-client.ts';

/** The span that it shows unless another is chosen. */
export const FIRST_PERIOD = '24h';

/** The figures of a span up to now. */
export function figuresOf(period: string): CallOf<'GET /dashboard'> {
  return { query: { period, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone } };
}
