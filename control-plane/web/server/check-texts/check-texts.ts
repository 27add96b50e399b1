/** Texts of the page `/check`. `{…}` is a placeholder that the script fills in. */

import type { UnblockAskAnswer } from '../../../../shared/api/unblocking/unblock-requests-api.ts';

/** Texts of the page and its script. */
export interface CheckTexts {
  readonly title: string;
  readonly needsScript: string;
  readonly checking: string;
  /** Subjects of the verdicts. */
  readonly phone: string;
  readonly tablet: string;
  readonly computer: string;
  readonly device: string;
  /** Verdicts: all, some or none of the test names were queried at this node. */
  readonly all: string;
  readonly some: string;
  readonly none: string;
  readonly allDetail: string;
  readonly someDetail: string;
  readonly noneDetail: string;
  readonly failed: string;
  readonly failedDetail: string;
  readonly tooMany: string;
  /** Names queried over IPv4 and over IPv6: their number and sources. */
  readonly families: string;
  readonly familySeen: string;
  readonly familyNotSeen: string;
  readonly oneFamilyAll: string;
  readonly oneFamilySome: string;
  readonly forwarded: string;
  readonly maybeForwarded: string;
  readonly limits: string;
  readonly nextSteps: string;
  readonly steps: readonly string[];
  readonly guides: string;
  /** Form in which a visitor requests that a name be unblocked, and the outcomes of the request. */
  readonly askTitle: string;
  readonly askName: string;
  readonly askButton: string;
  readonly askOutcomes: Readonly<Record<UnblockAskAnswer['outcome'], string>>;
  readonly askInvalid: string;
  readonly askRefused: string;
  readonly askTooMany: string;
  readonly again: string;
  readonly dashboard: string;
}
