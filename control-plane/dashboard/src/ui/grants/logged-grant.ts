/** Temporary rules as the query log and explanations name them, in the server's format. */
import type { Say } from '../../i18n/say.ts';

const AROUND_NAME = /^(allow|block) (only |service )?| until \S+$/g;

/** Service or names of a grant. */
export function grantText(rule: string, say: Say): string {
  const name = rule.replaceAll(AROUND_NAME, '');
  return name === '*' ? say('grants.everything') : name;
}
