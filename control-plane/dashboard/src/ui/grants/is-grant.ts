const SOURCE = /^grant \d+$/;

/** Whether a grant decided about the query, by the source of the rule in the log. */
export function isGrant(source: string | null): boolean {
  return source !== null && SOURCE.test(source);
}
