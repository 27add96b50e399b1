/** Texts about the effects of a restore. */
import type { AnswerOf } from '../../../../../../shared/api/client/typed-client.ts';
import type { Say } from '../../../i18n/say.ts';

/** Changes of a restore, or of its preview. */
export type Difference = AnswerOf<'POST /restore'>;

/** Kinds of objects in a backup. */
const KINDS = [
  'groups',
  'clients',
  'client_subnets',
  'list_sources',
  'managed_domains',
  'regex_filters',
  'custom_services',
  'blocked_services',
  'safe_search',
  'schedule_profiles',
  'group_schedules',
  'local_records',
  'forward_zones',
  'configuration',
  'users',
  'second_factors',
  'certificates',
  'api_tokens',
  'user_clients',
  'grants',
] as const;

/** Text for a kind; its identifier if there is no text. */
export function kindWord(kind: string, say: Say): string {
  const known = KINDS.find((one) => one === kind);
  return known === undefined ? kind : say(`backup.kind.${known}`);
}

/** Effects on an object, in the order in which they are shown. */
export const EFFECTS = ['removed', 'changed', 'created'] as const;

/** Number of objects of all kinds that are created, changed and removed. */
export function sumsOf({ changes }: Pick<Difference, 'changes'>): Record<(typeof EFFECTS)[number], number> {
  const sum = (effect: (typeof EFFECTS)[number]): number =>
    changes.reduce((total, change) => total + change[effect].count, 0);
  return { removed: sum('removed'), changed: sum('changed'), created: sum('created') };
}

/** The text of a file, parsed as JSON; null if it is invalid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether a backup contains secrets that are encrypted with a passphrase. */
export function isEncrypted(backup: unknown): boolean {
  return typeof backup === 'object' && backup !== null && 'secrets' in backup;
}
