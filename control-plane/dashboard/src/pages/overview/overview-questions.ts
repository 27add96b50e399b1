/** Requests of the overview, for the page itself and for the code that sends them ahead. */
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';

/** The span that it shows unless another is chosen. */
export const FIRST_PERIOD = '24h';

/** Selects the queries of one node, or of all if `node` is empty. */
export function ofNode(node: string): { readonly node?: string } {
  return node === '' ? {} : { node };
}

/** The figures of a span up to now. */
export function figuresOf(period: string, node = ''): CallOf<'GET /dashboard'> {
  return { query: { period, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...ofNode(node) } };
}

/** The queries of a span in the log. */
export function logPathOf(fields: Readonly<Record<string, string>>, node: string): string {
  return `/queries?${new URLSearchParams({ ...fields, ...ofNode(node) }).toString()}`;
}

/** The nodes to choose from, including the chosen one even if it was removed; empty if there is no choice. */
export function choosableNodes(nodes: AnswerOf<'GET /nodes'>, chosen: string): string[] {
  const names = new Set(nodes.map(({ node }) => node));
  if (chosen !== '') names.add(chosen);
  return names.size > 1 || chosen !== '' ? [...names].sort((a, b) => a.localeCompare(b)) : [];
}

const DAY_MS = 86_400_000;

/** Whether a network was refused in the last day and may be allowed. */
export function isRecent(
  { last_refused: at, is_blocked: isBlocked }: AnswerOf<'GET /clients/refused'>['refused'][number],
  nowMs = Date.now(),
): boolean {
  return !isBlocked && nowMs - Date.parse(at) < DAY_MS;
}
