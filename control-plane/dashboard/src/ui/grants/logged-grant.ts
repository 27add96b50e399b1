/** Texts for temporary rules that the query log and explanations name in the server's format. */
import type { Say } from '../../i18n/say.ts';

const AROUND_NAME = /^(allow|block) (only |service )?| until \S+$/g;

/** The service or the names of a grant, as text. */
export function grantText(rule: string, say: Say): string {
  const name = rule.replaceAll(AROUND_NAME, '');
  return name === '*' ? say('grants.everything') : name;
}
