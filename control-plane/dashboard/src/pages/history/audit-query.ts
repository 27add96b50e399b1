/** The filters of the audit log as its operation takes them. */

/** Filters in the form of the page's URL; empty = not set. */
export interface AuditFilters {
  readonly author: string;
  readonly subject: string;
  readonly action: string;
  readonly period: string;
  /** The first row, from 0. */
  readonly from: string;
}

const ROWS = 50;

/** Query parameters of the operation, without empty ones; an invalid offset becomes 0. */
export function auditQueryOf({ from, period, ...texts }: AuditFilters): Record<string, string | number> {
  const given = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  return {
    ...Object.fromEntries(given.filter(([, text]) => text !== '')),
    ...(period !== 'all' && { period }),
    limit: ROWS,
    offset: /^\d{1,9}$/.test(from) ? Number(from) : 0,
  };
}
