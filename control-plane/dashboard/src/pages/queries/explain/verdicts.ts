/** Decisions about a row: for which clients, how long, and for which names. The server ends grants when they expire. */
import type { QueryStatusName } from '../../../../../../shared/query-log.ts';
import type { LogRow } from '../log/log-rows.ts';
import type { AnswerOf, CallOf } from '../../../../../../shared/api/client/typed-client.ts';

/** A grant: a temporary permission or block. */
export type Grant = AnswerOf<'GET /grants'>[number];

/** Duration: seconds, until midnight, or until the user deletes it. */
export type VerdictSpan = 600 | 3_600 | 'midnight' | 'ever';

/** The clients that a decision applies to. */
export type VerdictScope = 'client' | 'group' | 'everyone';

export interface Verdict {
  readonly action: 'allow' | 'block';
  readonly scope: VerdictScope;
  readonly span: VerdictSpan;
  readonly subdomains: boolean;
}

/** The query that a decision is about. */
export interface VerdictTarget {
  readonly domain: string;
  /** Address of the client; null = no client, so that the decision is for the group or everyone. */
  readonly client: string | null;
  /** Id of a client that was identified by its key; null to look the client up by its address. */
  readonly clientId: number | null;
  readonly groupId: number;
  readonly status: QueryStatusName;
}

/** The target of a decision about a row. */
export function targetOf(
  row: Pick<LogRow, 'domain' | 'client' | 'client_id' | 'group_id' | 'status'>,
): VerdictTarget {
  const { domain, client, client_id: clientId, group_id: groupId, status } = row;
  return { domain, client, clientId, groupId, status };
}

/** The usual decision: one click makes it, and the dialog starts with it. */
export function usualFor(target: VerdictTarget): Omit<Verdict, 'action'> {
  return { scope: scopesOf(target)[0]!, span: 600, subdomains: true };
}

/** Choices of clients, the most common first. */
export function scopesOf({ client, clientId }: Pick<VerdictTarget, 'client' | 'clientId'>): VerdictScope[] {
  return client === null && clientId === null ? ['group', 'everyone'] : ['client', 'group', 'everyone'];
}

/** Choices of durations, shortest first. */
export const SPANS: readonly VerdictSpan[] = [600, 3_600, 'midnight', 'ever'];

/**
 * Statuses of blocks that an allow rule overrides. Other blocks need a grant, which takes precedence over all blocking.
 */
const LIFTED_BY_RULES: readonly QueryStatusName[] = ['BLOCKED_LIST', 'BLOCKED_MANAGED', 'BLOCKED_REGEX'];

/**
 * Kind of object that a decision creates for a query with this status. A permanent decision creates a rule and a
 * revision; for a single client it creates a grant that does not expire, because clients cannot have rules.
 */
export function madeBy({ action, scope, span }: Verdict, status: QueryStatusName): 'grant' | 'rule' {
  if (span !== 'ever' || scope === 'client') return 'grant';
  return action === 'block' || LIFTED_BY_RULES.includes(status) ? 'rule' : 'grant';
}

type GrantBody = NonNullable<CallOf<'POST /grants'>['body']>;

/** The client or group of a grant; an object with neither field means everyone. */
type Holder = { readonly client_id?: number } | { readonly group_id?: number };

/** Body of the request that creates the grant of a decision. */
export function grantOf(
  { action, span, subdomains }: Pick<Verdict, 'action' | 'span' | 'subdomains'>,
  domain: string,
  holder: Holder,
  now: Date,
): GrantBody {
  return { action, domain, subdomains, ...holder, ...lengthOf(span, now) };
}

function lengthOf(span: VerdictSpan, now: Date): Pick<GrantBody, 'secs' | 'until'> {
  if (span === 'ever') return {};
  return span === 'midnight' ? { until: midnightAfter(now).toISOString() } : { secs: span };
}

/** Domain of the rule that a decision creates. */
export function ruleDomainOf({ subdomains }: Pick<Verdict, 'subdomains'>, domain: string): string {
  return subdomains ? `*.${domain}` : domain;
}

/** The next midnight in the browser's time zone, which may be more or less than 24 hours after the previous one. */
export function midnightAfter(now: Date): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
}

export function scopeOf({ client_id: clientId, group_id: groupId }: Grant): VerdictScope {
  if (clientId !== null) return 'client';
  return groupId === null ? 'everyone' : 'group';
}

/**
 * Whether a grant applies to this name and client. False for grants of services, because this code does not know their
 * names.
 */
export function touches(grant: Grant, domain: string, clientId: number | null, groupId: number): boolean {
  if (grant.group_id !== null && grant.group_id !== groupId) return false;
  if (grant.client_id !== null && grant.client_id !== clientId) return false;
  if (grant.service_id !== null) return false;
  if (grant.domain === null) return true;
  const name = domain.toLowerCase();
  return name === grant.domain || (grant.subdomains && name.endsWith(`.${grant.domain}`));
}
