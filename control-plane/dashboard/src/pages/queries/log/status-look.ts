/** Word, icon and tone for each outcome of a query. */
import {
  Ban,
  CircleCheck,
  Clock,
  Gauge,
  History,
  House,
  Search,
  ShieldOff,
  TriangleAlert,
  Zap,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { QueryStatusName } from '../../../../../../shared/query-log.ts';
import type { BadgeTone } from '../../../ui/display/values.tsx';

/** Icon and tone; the word is the message `queries.status.NAME`. */
export interface StatusLook {
  readonly icon: LucideIcon;
  readonly tone: BadgeTone;
}

const BLOCKED: StatusLook = { icon: Ban, tone: 'blocked' };

const LOOKS: Readonly<Record<QueryStatusName, StatusLook>> = {
  ALLOWED: { icon: CircleCheck, tone: 'allowed' },
  CACHED: { icon: Zap, tone: 'plain' },
  STALE: { icon: History, tone: 'warning' },
  LOCAL: { icon: House, tone: 'good' },
  BLOCKED_LIST: BLOCKED,
  BLOCKED_MANAGED: BLOCKED,
  BLOCKED_REGEX: BLOCKED,
  BLOCKED_CNAME: BLOCKED,
  BLOCKED_SERVICE: BLOCKED,
  BLOCKED_SCHEDULE: { icon: Clock, tone: 'blocked' },
  BLOCKED_REBIND: BLOCKED,
  BLOCKED_PTR: BLOCKED,
  BLOCKED_NON_FQDN: BLOCKED,
  SAFE_SEARCH: { icon: Search, tone: 'good' },
  RATE_LIMITED: { icon: Gauge, tone: 'warning' },
  REFUSED: { icon: ShieldOff, tone: 'warning' },
  SERVFAIL: { icon: TriangleAlert, tone: 'fault' },
  TIMEOUT: { icon: TriangleAlert, tone: 'fault' },
};

/** Icon and tone of a status. */
export function lookOf(status: QueryStatusName): StatusLook {
  return LOOKS[status];
}

/** Whether policy blocked the query. */
export function isBlocked(status: QueryStatusName): boolean {
  return status.startsWith('BLOCKED_');
}
