/** What may be decided about a row: for whom, and how long. Grants are ended by the server, not by this page. */
import type { AnswerOf, CallOf } from '../../../../../../shared/api/client/typed-client.ts';

/** A permission or a block for a while. */
export type Grant = AnswerOf<'GET /grants'>[number];

/** How long: seconds, or until a moment that the clock names. */
export type VerdictSpan = 600 | 3_600 | 'midnight' | 'ever';

/** A decision. */
export interface Verdict {
  readonly action: 'allow' | 'block';
  readonly scope: 'client' | 'group';
  readonly span: VerdictSpan;
}

/** What it is about. */
export interface VerdictTarget {
  readonly domain: string;
  /** The address. */
  readonly client: string;
  /** Of a client that named itself by its key; else it is looked up by the address. */
  readonly clientId: number | null;
  readonly groupId: number;
}

/** What menus offer, the quickest first. A rule for ever is one of a group: clients have none of their own. */
export const OFFERED: readonly Omit<Verdict, 'action'>[] = [
  { scope: 'client', span: 600 },
  { scope: 'client', span: 3_600 },
  { scope: 'client', span: 'midnight' },
  { scope: 'group', span: 600 },
  { scope: 'group', span: 3_600 },
  { scope: 'group', span: 'midnight' },
  { scope: 'group', span: 'ever' },
];

type GrantBody = NonNullable<CallOf<'POST /grants'>['body']>;

/** The grant of a decision that ends. */
export function grantOf(
  { action, span }: Pick<Verdict, 'action'> & { readonly span: Exclude<VerdictSpan, 'ever'> },
  domain: string,
  holder: { readonly client_id: number } | { readonly group_id: number },
  now: Date,
): GrantBody {
  const length = span === 'midnight' ? { until: midnightAfter(now).toISOString() } : { secs: span };
  return { action, domain, ...holder, ...length };
}

/** The next midnight of the place where the page is, also where a day has no 24 hours. */
export function midnightAfter(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
}

/** Whether a grant holds for this name, asked by this client. */
export function touches(grant: Grant, domain: string, clientId: number | null, groupId: number): boolean {
  const isHolder = grant.group_id === null ? grant.client_id === clientId : grant.group_id === groupId;
  if (!isHolder) return false;
  if (grant.domain === null) return true;
  const name = domain.toLowerCase();
  return name === grant.domain || name.endsWith(`.${grant.domain}`);
}
