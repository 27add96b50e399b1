/** What a server supports, as far as that is worth a word: the keys of texts. */
import type { MessageKey } from '../../i18n/language.ts';
import { keyOfCode } from '../../i18n/say.ts';
import type { ServerState } from './pools.ts';

type Supports = ServerState['supports'];

/** The texts for a server, in order; a finding without a text is usual. */
export function supportTexts(supports: Supports): MessageKey[] {
  return (['edns', 'case', 'cookies', 'tcp'] as const)
    .map((feature) => keyOfCode('resolving.support', `${feature}.${supports[feature]}`))
    .filter((text) => text !== null);
}
