/** Shapes of the check for a newer version. */
import { Timestamp } from '../fields.ts';
import { z } from 'zod';

/** Three numbers, and a pre-release part (semver.org, without build metadata). */
export const RELEASE_VERSION = /^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-([0-9A-Za-z.-]{1,64}))?$/;
const MAX_URL_CHARACTERS = 1000;

/** The answer of the server that is asked for the newest version. */
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

/** The file that keeps the state of the check over a restart. */
export const StoredUpdateCheck = z.strictObject({
  url: z.string(),
  checked_at_ms: z.number(),
  due_at_ms: z.number(),
  answer: z.string().nullable(),
});

/** Result of the daily check for a new version. */
export const SystemUpdate = z
  .strictObject({
    source: z
      .string()
      .nullable()
      .meta({ description: 'server.update_url; null = new versions are not checked' }),
    version: z.string().meta({ description: 'version of this node' }),
    checked_at: Timestamp.nullable(),
    newer: z
      .strictObject({
        version: z.string(),
        url: z.string().meta({ description: 'page about this version, an https URL' }),
      })
      .nullable()
      .meta({ description: 'null = no newer version is known' }),
    fault: z.string().nullable().meta({ description: 'why the last check failed; null = it succeeded' }),
  })
  .meta({ id: 'SystemUpdate' });
export type SystemUpdate = z.infer<typeof SystemUpdate>;
