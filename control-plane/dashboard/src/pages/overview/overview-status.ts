/** Problems, the worst first, each with the page to fix it. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';
import type { Filling } from '../../i18n/say.ts';

/** Health as the server reports it. */
export type Health = AnswerOf<'GET /health'>;

/** A fault, or something that a user should look at. */
export interface Trouble {
  readonly id: string;
  readonly tone: 'info' | 'warning' | 'fault';
  readonly text: MessageKey;
  readonly filling: Filling;
  /** Details of the server, if there are any. */
  readonly detail: string | null;
  /** Advice, if no page alone fixes the problem. */
  readonly help: MessageKey | null;
  /** Where it is fixed; null = by looking again once the help was followed. */
  readonly fix: { readonly to: string; readonly text: MessageKey } | null;
}

type Part = keyof Health['checks'];

/** DNS first: without it nothing else matters to people. */
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

/** All parts that are not well; of equally bad ones first what people notice first. */
export function troublesOf({ checks }: Health): Trouble[] {
  const bad = (status: 'down' | 'degraded'): Trouble[] =>
    PARTS.filter((part) => checks[part].status === status).map((part) => ({
      id: part,
      tone: status === 'down' ? 'fault' : 'warning',
      text: `health.${part}.${status}`,
      filling: {},
      detail: checks[part].detail ?? null,
      help: HELP[part] ?? null,
      fix: FIXES[part] ?? null,
    }));
  return [...bad('down'), ...bad('degraded')];
}

/** Blocking is on, but blocks nothing: no list, service or rule is active. */
export const NOTHING_BLOCKED: Trouble = {
  ...NOTHING_MORE,
  id: 'nothing-blocked',
  tone: 'warning',
  text: 'blocking.onNothing',
  fix: { to: '/lists', text: 'lists.add' },
};

/** Whether blocking is on and blocks nothing; not known = no. */
export function isNothingBlocked(isEnabled: boolean | undefined, blockedNames: number | null): boolean {
  return isEnabled === true && blockedNames === 0;
}

/** Weir answers on another port than devices ask, which is not set on purpose; null = it does not. */
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

/** Lists whose new copy waits for a person to look at it; null = none. */
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

/** Networks that were refused in the last day, or soon will be: one of them may be a television of this home. */
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
