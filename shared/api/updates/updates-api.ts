/** Schemas of the check for a newer version. */
import { Timestamp } from '../fields.ts';
import { z } from 'zod';

/** Three numbers, and a pre-release part (semver.org, without build metadata). */
export const RELEASE_VERSION = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]{1,64}))?$/;
const MAX_URL_CHARACTERS = 1000;

/** Response of the server that publishes the newest version. */
export const ReleaseAnswer = z.object({
  version: z.string().regex(RELEASE_VERSION),
  url: z
    .string()
    .max(MAX_URL_CHARACTERS)
    .refine((value) => isReleasePage(value)),
});

function isReleasePage(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return protocol === 'https:' && username === '' && password === '';
}

/** The file that keeps the result of the check across restarts. */
export const StoredUpdateCheck = z.strictObject({
  url: z.string(),
  checked_at_ms: z.number(),
  due_at_ms: z.number(),
  answer: z.string().nullable(),
});

/** Result of the daily check for a new version. */
export const SystemUpdate = z
  .strictObject({
    source: z.string().nullable().meta({
      description:
        'URL of the release information (server.update_url); null = Weir does not check for new versions',
    }),
    version: z.string().meta({ description: 'version of this node' }),
    checked_at: Timestamp.nullable(),
    newer: z
      .strictObject({
        version: z.string(),
        url: z.string().meta({ description: 'https URL of a page about this version' }),
      })
      .nullable()
      .meta({ description: 'the newer version; null = none is known' }),
    fault: z.string().nullable().meta({ description: 'why the last check failed; null = it succeeded' }),
  })
  .meta({ id: 'SystemUpdate' });
export type SystemUpdate = z.infer<typeof SystemUpdate>;
