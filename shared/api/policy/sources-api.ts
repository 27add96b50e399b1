/** Requests and responses of `{api}/blocklist-sources` and `{api}/allowlist-sources`. */
import { z } from 'zod';
import { Comment, Id, label, text, Timestamp } from '../fields.ts';
import { CustomText } from './custom-text-api.ts';
import { HeldCopy } from './held-copy-api.ts';

/** State of a source: never fetched yet, being fetched, active, update held by its guard, or last fetch failed. */
export const SourceStatus = z.enum(['pending', 'updating', 'ok', 'held', 'error']);
export type SourceStatus = z.infer<typeof SourceStatus>;

export const BlocklistSource = z
  .strictObject({
    id: Id,
    name: z.string(),
    url: z
      .string()
      .nullable()
      .meta({
        description:
          'URL of the list; credentials in it are shown as ***. If a URL with *** is sent back, the stored ' +
          'credentials are kept, provided the host is the same. Null for custom rules',
      }),
    has_text: z.boolean().meta({
      description:
        'whether the list contains custom rules, which users write (GET and PUT `/{id}/text`). Such a list ' +
        'is never fetched, and held only if a new release of Weir interprets its text differently',
    }),
    enabled: z.boolean(),
    comment: z.string(),
    group_ids: z
      .array(Id)
      .meta({ description: 'ids of the groups that the list applies to; empty = all groups' }),
    subdomains: z
      .boolean()
      .meta({ description: 'whether names in plain and hosts syntax also cover their subdomains' }),
    format: z.string().nullable().meta({ description: 'syntax of most lines of the list' }),
    status: SourceStatus,
    rules: z.int().min(0),
    invalid_lines: z.int().min(0),
    bytes: z.int().min(0),
    etag: z.string().nullable(),
    last_checked_at: Timestamp.nullable(),
    last_changed_at: Timestamp.nullable(),
    last_error: z.string().nullable(),
    file_node: z
      .string()
      .nullable()
      .meta({
        description:
          'for a list with a file: URL, the node whose file is used, which the other nodes copy; otherwise ' +
          'null',
      }),
    held: HeldCopy.nullable().meta({ description: 'the update that POST approve applies; null = none' }),
  })
  .meta({ id: 'BlocklistSource' });
export type BlocklistSource = z.infer<typeof BlocklistSource>;
export const BlocklistSourceList = z.array(BlocklistSource);

/** A line of a list without a rule. */
export const UnusedLine = z
  .strictObject({ line: z.int().min(1), reason: z.string(), text: z.string() })
  .meta({ id: 'UnusedLine' });
export type UnusedLine = z.infer<typeof UnusedLine>;
export const UnusedLineList = z.array(UnusedLine);

const Name = label(200);

/** `http:`, `https:` or `file:`; `blocking.list_dirs` lists the folders that `file:` can read. */
export const Url = text(2048)
  .refine((value) => isListUrl(value), 'expected an http:, https: or file: URL')
  .meta({ format: 'uri' });

/** The groups that a list is for; empty = all groups. */
export const GroupIds = z
  .array(Id)
  .max(10_000)
  .refine((ids) => new Set(ids).size === ids.length, 'expected each group once');

export const SourceCreateBody = z
  .strictObject({
    name: Name,
    url: Url.optional(),
    text: CustomText.optional(),
    enabled: z.boolean().default(true),
    comment: Comment.default(''),
    group_ids: GroupIds.default([]),
    subdomains: z.boolean().default(false),
  })
  .refine(({ url, text: rules }) => (url === undefined) !== (rules === undefined), {
    message: 'expected exactly one of url and text',
    path: ['url'],
  })
  .meta({
    id: 'BlocklistSourceCreate',
    examples: [{ name: 'Ads', url: 'https://lists.example.org/ads.txt', group_ids: [2] }],
  });
export type SourceCreate = z.infer<typeof SourceCreateBody>;

/** Absent fields keep their value. */
export const SourceUpdateBody = z
  .strictObject({
    name: Name.optional(),
    url: Url.nullable().optional().meta({ description: 'URL of the list; null or absent for custom rules' }),
    enabled: z.boolean().optional(),
    comment: Comment.optional(),
    group_ids: GroupIds.optional(),
    subdomains: z.boolean().optional(),
  })
  .meta({ id: 'BlocklistSourceUpdate' });
export type SourceUpdate = z.infer<typeof SourceUpdateBody>;

function isListUrl(value: string): boolean {
  if (value !== value.trim() || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'file:'
    ? hostname === ''
    : (protocol === 'http:' || protocol === 'https:') && hostname !== '';
}
