/** Says in one sentence whether all is well, the worst first. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { MessageKey } from '../../i18n/language.ts';

/** What the server reports of itself. */
export type Health = AnswerOf<'GET /health'>;

/** How things stand. */
export interface Standing {
  readonly tone: 'good' | 'warning' | 'fault';
  readonly text: MessageKey;
  /** Said beside it, where the server has more to say. */
  readonly detail: string | null;
}

type Part = keyof Health['checks'];

/** DNS first: without it nothing else matters to people. */
const PARTS: readonly Part[] = [
  'dns',
  'upstreams',
  'clock',
  'filters',
  'disk',
  'database',
  'certificates',
  'access',
  'configuration',
  'nodes',
  'privileges',
];

/** The worst of all parts; of equally bad ones the first that people notice. */
export function standingOf({ checks }: Health): Standing {
  for (const bad of ['down', 'degraded'] as const)
    for (const part of PARTS) {
      const { status, detail } = checks[part];
      if (status !== bad) continue;
      return {
        tone: bad === 'down' ? 'fault' : 'warning',
        text: `health.${part}.${bad}`,
        detail: detail ?? null,
      };
    }
  return { tone: 'good', text: 'health.good', detail: null };
}
