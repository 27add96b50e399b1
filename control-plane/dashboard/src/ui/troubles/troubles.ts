/** Problems, the worst first, each with the page to fix it. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';
import type { Filling } from '../../i18n/say.ts';

/** Health as the server reports it. */
export type Health = AnswerOf<'GET /health'>;

/** A problem, or something for the user to review. */
export interface Trouble {
  readonly id: string;
  readonly tone: 'info' | 'warning' | 'fault';
  readonly text: MessageKey;
  readonly filling: Filling;
  /** Details of the server, if there are any. */
  readonly detail: string | null;
  /** Advice; null if the page in `fix` is sufficient to fix the problem. */
  readonly help: MessageKey | null;
  /** Page on which the problem is fixed; null if the user follows the advice and checks again. */
  readonly fix: { readonly to: string; readonly text: MessageKey } | null;
}

type Part = keyof Health['checks'];

/** DNS comes first because users notice its failure most. */
const PARTS: readonly Part[] = [
  ...(['dns', 'upstreams', 'clock', 'filters', 'disk', 'database', 'certificates', 'access'] as const),
  ...(['web', 'configuration', 'nodes', 'privileges'] as const),
];

/** Pages on which faults of a part can be fixed. */
const FIXES: Readonly<Partial<Record<string, Trouble['fix']>>> = {
  upstreams: { to: '/resolving', text: 'trouble.fix.upstreams' },
  filters: { to: '/lists', text: 'trouble.fix.filters' },
  database: { to: '/settings?part=database', text: 'trouble.fix.database' },
  access: { to: '/clients?tab=access', text: 'trouble.fix.access' },
  nodes: { to: '/nodes', text: 'trouble.fix.nodes' },
  web: { to: '/settings?part=server', text: 'trouble.fix.web' },
  certificates: { to: '/settings?part=tls', text: 'trouble.fix.certificates' },
};

/** Advice about problems that no page fixes. */
const HELP: Readonly<Partial<Record<string, MessageKey>>> = {
  dns: 'trouble.help.dns',
  clock: 'trouble.help.clock',
  database: 'trouble.help.database',
  disk: 'trouble.help.disk',
  configuration: 'trouble.help.configuration',
  privileges: 'trouble.help.privileges',
};

const NOTHING_MORE = { filling: {}, detail: null, help: null } as const;

/** All unhealthy parts: the worst state first, then in the order of `PARTS`. */
export function troublesOf({ checks }: Health): Trouble[] {
  const bad = (status: 'down' | 'degraded'): Trouble[] =>
    PARTS.filter((part) => checks[part].status === status).map((part) => ({
      id: part,
      tone: status === 'down' ? 'fault' : 'warning',
      text: `health.${part}.${status}`,
      filling: {},
      // `text` contains a translation of this prefix; the rest of the server's detail consists of names.
      detail: checks[part].detail?.replace(/^not active: /, '') ?? null,
      help: HELP[part] ?? null,
      fix: FIXES[part] ?? null,
    }));
  return [...bad('down'), ...bad('degraded')];
}

/** Blocking is enabled but no list, service or rule is active. */
export const NOTHING_BLOCKED: Trouble = {
  ...NOTHING_MORE,
  id: 'nothing-blocked',
  tone: 'warning',
  text: 'blocking.onNothing',
  fix: { to: '/lists', text: 'lists.add' },
};

/** Whether blocking is enabled but blocks nothing; false while this is unknown. */
export function isNothingBlocked(isEnabled: boolean | undefined, blockedNames: number | null): boolean {
  return isEnabled === true && blockedNames === 0;
}

/** A problem if Weir answers on a port other than 53 that the user did not configure; null if it does not. */
export function portTrouble({ dns }: AnswerOf<'GET /system/reachability'>): Trouble | null {
  if (dns.port_53 === 'weir' || dns.is_chosen) return null;
  return {
    ...NOTHING_MORE,
    id: 'port',
    tone: 'warning',
    text: 'welcome.port.other',
    filling: { port: String(dns.dns_port) },
    fix: { to: '/setup', text: 'trouble.fix.port' },
  };
}

/** A problem for lists whose updates wait for approval; null if there are none. */
export function heldTrouble(sources: AnswerOf<'GET /blocklist-sources'>): Trouble | null {
  const held = sources.filter(({ status }) => status === 'held');
  if (held.length === 0) return null;
  return {
    ...NOTHING_MORE,
    id: 'held',
    tone: 'warning',
    text: 'overview.held',
    filling: { count: held.length, names: held.map(({ name }) => name).join(', ') },
    fix: { to: '/lists', text: 'action.look' },
  };
}

/**
 * Networks that were refused in the last day, or that an announced change will refuse; one of them may belong to a
 * device of the user.
 */
export function refusedTrouble(
  { announced, refused }: AnswerOf<'GET /clients/refused'>,
  isRecent: (network: AnswerOf<'GET /clients/refused'>['refused'][number]) => boolean,
): Trouble | null {
  const soon = announced?.networks ?? [];
  const networks = soon.length > 0 ? soon : refused.filter(isRecent);
  if (networks.length === 0) return null;
  return {
    ...NOTHING_MORE,
    id: 'refused',
    tone: soon.length > 0 ? 'warning' : 'info',
    text: soon.length > 0 ? 'overview.announced' : 'overview.refused',
    filling: { count: networks.length, network: networks[0]!.network },
    fix: { to: '/clients?tab=access', text: 'overview.refused.look' },
  };
}

const DAY_MS = 86_400_000;

/** Whether a network was refused in the last day and can be allowed. */
export function isRecent(
  { last_refused: at, is_blocked: isBlocked }: AnswerOf<'GET /clients/refused'>['refused'][number],
  nowMs = Date.now(),
): boolean {
  return !isBlocked && nowMs - Date.parse(at) < DAY_MS;
}
