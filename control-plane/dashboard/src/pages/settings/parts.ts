/** Sections of the settings, in the order of their navigation. */
import { CONFIG_SECTIONS } from './keys/config-key.ts';
import type { ConfigSection } from './keys/config-key.ts';
import type { Me } from '../../api/me.ts';

/** Parts other than configuration sections: for every user, and for administrators. */
const OWN = ['appearance', 'account', 'sessions'] as const;
const ADMIN = ['users', 'tokens', 'backup', 'import'] as const;
const SERVER = ['tls'] as const;

/** A part, as named in the URL. */
export type Part = (typeof OWN)[number] | (typeof ADMIN)[number] | (typeof SERVER)[number] | ConfigSection;

/** The part that is open initially. */
export const FIRST: Part = 'appearance';

/** Parts that this user may open. */
export function partsFor({ username, isAdmin }: Me): readonly Part[] {
  const own = username === null ? OWN.filter((part) => part === 'appearance') : OWN;
  return [...own, ...(isAdmin ? ADMIN : []), ...SERVER, ...CONFIG_SECTIONS];
}

/** Whether the part is a section of the configuration. */
export function isSection(part: Part): part is ConfigSection {
  return CONFIG_SECTIONS.some((section) => section === part);
}
