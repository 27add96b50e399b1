/** Requests and answers of `{api}/import`: imports the settings of another DNS filter. */
import { z } from 'zod';
import { Id } from './fields.ts';

/** The programs whose settings can be imported. */
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
        'program that the file is from; auto = detected from its content. pihole: a Teleporter archive, or gravity.db; ' +
        'adguard_home: AdGuardHome.yaml, or an archive of its folder; blocky: a YAML file, or an archive of its folder; ' +
        'technitium: the zip of a backup; nextdns: a profile as JSON; controld: a folder exported as JSON; dnsmasq: dnsmasq.conf, or an archive of its folder; hosts: a hosts file. ' +
        'Folders are packed as zip, tar or tar.gz',
    }),
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean', description: 'reports the effects of the import, and changes nothing' }),
  settings: z
    .string()
    .max(4000)
    .default('default')
    .transform((value): SettingSelection =>
      value === 'default' ? value : new Set(value === 'none' ? [] : value.split(',').filter(Boolean)),
    )
    .meta({
      type: 'string',
      description:
        'settings to set: default = those that a dry run selects (upstreams are tested ' +
        'again, and a pool that does not answer is left out), none, or keys, separated by commas',
    }),
  answers: z
    .string()
    .max(4000)
    .default('')
    .transform((value, context) => {
      const pairs = value.split(',').filter(Boolean);
      const read = pairs.map((pair) => pair.split(':'));
      if (read.some(({ length }) => length !== 2))
        context.addIssue('expected answers such as starting_list:keep, separated by commas');
      return new Map(read.map(([id = '', choice = '']) => [id, choice]));
    })
    .meta({
      type: 'string',
      description:
        'answers to the questions of a dry run, as question:choice, separated by commas; other questions get ' +
        'the answer that the dry run proposes',
    }),
});

/** The keys of the settings that an import sets; `default` = the settings that a dry run selects. */
export type SettingSelection = 'default' | ReadonlySet<string>;

/** Kind of an item of the file, in Weir's terms; `other` for a kind that Weir does not have. */
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
    'done: created; changed: updated; skipped: already in Weir; not_mapped: no equivalent, or left to the user; differs: imported, but behaves differently here',
});
export type ImportItemResult = z.infer<typeof ItemResult>;

export const ImportItem = z
  .strictObject({
    kind: ItemKind,
    name: z.string().meta({ description: 'as in the file; never a secret' }),
    action: z
      .enum(['allow', 'deny'])
      .nullable()
      .meta({ description: 'whether a rule or a list allows or denies' }),
    result: ItemResult,
    reason: z.string().nullable(),
  })
  .meta({ id: 'ImportItem' });
export type ImportItem = z.infer<typeof ImportItem>;

const Count = z.int().min(0);

export const ImportSetting = z
  .strictObject({
    key: z.string().meta({
      description:
        'a key of the configuration; the pools of dns.pools are selected separately, by their position, such as dns.pools.0',
    }),
    value: z.unknown().meta({ description: 'the new value; without secrets' }),
    selected: z.boolean(),
    reason: z.string().nullable().meta({
      description: 'why it is not selected, or a warning; for pools, which servers do not answer',
    }),
    can_select: z.boolean().meta({ description: 'false = the value cannot be set, for the given reason' }),
  })
  .meta({ id: 'ImportSetting' });
export type ImportSetting = z.infer<typeof ImportSetting>;

export const ImportQuestion = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['starting_list', 'device_group']).meta({
      description:
        'whether the default list stays active; the group of a device that the file knows by its address',
    }),
    name: z.string().meta({ description: 'the list, or the device' }),
    choices: z.array(
      z.strictObject({
        id: z.enum(['keep', 'disable', 'address', 'device']),
        text: z.string().meta({ description: 'explanation; for a device, the name of its group' }),
      }),
    ),
    choice: z.string().meta({ description: 'the given one, else the proposed one' }),
  })
  .meta({ id: 'ImportQuestion' });
export type ImportQuestion = z.infer<typeof ImportQuestion>;

export const ImportDifference = z
  .strictObject({
    kind: ItemKind,
    name: z.string(),
    reason: z.string(),
    queries: Count.nullable().meta({
      description:
        'affected queries of the last 7 days, from the log of Weir or of the export; null without a log',
    }),
  })
  .meta({ id: 'ImportDifference' });
export type ImportDifference = z.infer<typeof ImportDifference>;

export const ImportReport = z
  .strictObject({
    format: z.enum(IMPORT_FORMATS),
    dry_run: z.boolean(),
    revision: Id.nullable().meta({ description: 'the revision of the import; null if it created none' }),
    counts: z.strictObject({
      done: Count,
      changed: Count,
      skipped: Count,
      not_mapped: Count,
      differs: Count,
    }),
    items: z.array(ImportItem),
    settings: z.array(ImportSetting).meta({
      description: 'keys of the configuration that can be set; the selected ones are set as by PATCH /config',
    }),
    questions: z.array(ImportQuestion),
    differences: z
      .array(ImportDifference)
      .meta({ description: 'what behaves differently here; the most used names first' }),
    configuration: z.string().meta({
      description: 'the settings in the file, as TOML for a configuration file; empty = none',
    }),
  })
  .meta({ id: 'ImportReport' });
export type ImportReport = z.infer<typeof ImportReport>;
