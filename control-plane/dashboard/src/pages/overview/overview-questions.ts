/** Requests of the overview; used by the page, and by the code that sends them before the page is loaded. */
import type { AnswerOf, CallOf } from '../../../../../shared/api/client/typed-client.ts';

/** Period that the overview shows by default. */
export const FIRST_PERIOD = '24h';

/** Query parameters that select one node, or all nodes if `node` is empty. */
export function ofNode(node: string): { readonly node?: string } {
  return node === '' ? {} : { node };
}

/** Request for the figures of a period up to now. */
export function figuresOf(period: string, node = ''): CallOf<'GET /dashboard'> {
  return { query: { period, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...ofNode(node) } };
}

/** Path of the query log with a filter. */
export function logPathOf(fields: Readonly<Record<string, string>>, node: string): string {
  return `/queries?${new URLSearchParams({ ...fields, ...ofNode(node) }).toString()}`;
}

/** Nodes to choose from, including the selected node even if it was removed; empty if there is only one node. */
export function choosableNodes(nodes: AnswerOf<'GET /nodes'>, chosen: string): string[] {
  const names = new Set(nodes.map(({ node }) => node));
  if (chosen !== '') names.add(chosen);
  return names.size > 1 || chosen !== '' ? [...names].sort((a, b) => a.localeCompare(b)) : [];
}
