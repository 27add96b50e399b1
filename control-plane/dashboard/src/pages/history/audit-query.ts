/** Converts the filters of the audit log to query parameters. */

/** Filters as in the page's URL; an empty string means that the filter is not set. */
export interface AuditFilters {
  readonly author: string;
  readonly subject: string;
  /** Code of an action, or `all`. */
  readonly action: string;
  readonly period: string;
  /** Index of the first row, from 0. */
  readonly from: string;
}

const ROWS = 50;

/** Query parameters of the operation, without empty filters; an invalid offset becomes 0. */
export function auditQueryOf({
  from,
  period,
  action,
  ...texts
}: AuditFilters): Record<string, string | number> {
  const given = Object.entries(texts).map(([name, text]) => [name, text.trim()] as const);
  return {
    ...Object.fromEntries(given.filter(([, text]) => text !== '')),
    ...(action !== 'all' && { action_code: action }),
    ...(period !== 'all' && { period }),
    limit: ROWS,
    offset: /^\d{1,9}$/.test(from) ? Number(from) : 0,
  };
}
