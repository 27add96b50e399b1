/** What a server supports, as far as that is worth a word: the keys of texts. */
import type { MessageKey } from '../../i18n/language.ts';
import type { ServerState } from './pools.ts';

type Supports = ServerState['supports'];
type Feature = Exclude<keyof Supports, 'answers_per_connection'>;
type Finding = Supports[Feature];

/** Texts of findings; those that are not here are usual. */
const TEXTS: Readonly<Record<Feature, Readonly<Partial<Record<Finding, MessageKey>>>>> = {
  edns: { unsupported: 'resolving.support.noEdns' },
  cookies: {
    supported: 'resolving.support.cookies',
    altered: 'resolving.support.cookies.altered',
    refused: 'resolving.support.cookies.refused',
    silent: 'resolving.support.cookies.silent',
  },
  case: {
    supported: 'resolving.support.case',
    altered: 'resolving.support.case.altered',
    refused: 'resolving.support.case.refused',
    silent: 'resolving.support.case.silent',
  },
  tcp: { refused: 'resolving.support.tcp.refused', silent: 'resolving.support.tcp.silent' },
};

/** The texts for a server, in order. */
export function supportTexts(supports: Supports): MessageKey[] {
  return (['edns', 'case', 'cookies', 'tcp'] as const)
    .map((feature) => TEXTS[feature][supports[feature]])
    .filter((text) => text !== undefined);
}
