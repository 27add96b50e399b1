/** Requests and answers of `{api}/import`: settings taken over from another DNS filter. */
import { z } from 'zod';
import { Id } from './fields.ts';

/** The programs whose settings are read. */
export const IMPORT_FORMATS = [
  'pihole',
  'adguard_home',
  'blocky',
  'technitium',
  'nextdns',
  'controld',
  'dnsmasq',
  'hosts',
] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export const ImportQuery = z.object({
  format: z
    .enum(['auto', ...IMPORT_FORMATS])
    .default('auto')
    .meta({
      description:
        'whose settings the file holds; auto = as its content tells. pihole: an archive of Teleporter, or gravity.db; ' +
        'adguard_home: AdGuardHome.yaml, or its folder packed; blocky: a YAML file, or its folder packed; ' +
        'technitium: the zip of a backup; nextdns: a profile as JSON; controld: a folder as JSON; dnsmasq: dnsmasq.conf, or its folder packed; hosts: a hosts file. ' +
        'Folders are packed as zip, tar or tar.gz',
    }),
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean', description: 'reports what the import would do, and changes nothing' }),
});

/** What an item of the file is, in Weir's words; `other` is what Weir has no word for. */
const ItemKind = z.enum([
  'group',
  'client',
  'subnet',
  'blocklist',
  'allowlist',
  'managed_domain',
  'regex_filter',
  'list_rule',
  'local_record',
  'forward_zone',
  'service',
  'safe_search',
  'setting',
  'configuration',
  'other',
]);
export type ImportItemKind = z.infer<typeof ItemKind>;

const ItemResult = z.enum(['done', 'changed', 'skipped', 'not_mapped', 'differs']).meta({
  description:
    'made; given other values; in Weir already; has no equivalent, or is to be entered by hand; is taken, but answers or behaves differently here',
});
export type ImportItemResult = z.infer<typeof ItemResult>;

export const ImportItem = z
  .strictObject({
    kind: ItemKind,
    name: z.string().meta({ description: 'as the file has it; never a secret' }),
    result: ItemResult,
    reason: z.string().nullable(),
  })
  .meta({ id: 'ImportItem' });
export type ImportItem = z.infer<typeof ImportItem>;

const Count = z.int().min(0);

export const ImportReport = z
  .strictObject({
    format: z.enum(IMPORT_FORMATS),
    dry_run: z.boolean(),
    revision: Id.nullable().meta({ description: 'the revision that holds the import; null if it made none' }),
    counts: z.strictObject({
      done: Count,
      changed: Count,
      skipped: Count,
      not_mapped: Count,
      differs: Count,
    }),
    items: z.array(ImportItem),
    configuration: z.string().meta({
      description: 'keys for the configuration file, as TOML; they are not applied; empty = none',
    }),
  })
  .meta({ id: 'ImportReport' });
export type ImportReport = z.infer<typeof ImportReport>;
