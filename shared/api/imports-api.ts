/** Requests and responses of `{api}/import`: imports the settings of another DNS filter. */
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
        'program that wrote the file; auto = detected from the content. pihole: a Teleporter archive, or ' +
        'gravity.db; adguard_home: AdGuardHome.yaml, or an archive of its folder; blocky: a YAML file, or ' +
        'an archive of its folder; technitium: the zip of a backup; nextdns: a profile as JSON; controld: a ' +
        'folder exported as JSON; dnsmasq: dnsmasq.conf, or an archive of its folder; hosts: a hosts file. ' +
        'An archive is a zip, tar or tar.gz file',
    }),
  dry_run: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({ type: 'boolean', description: 'only reports the effects of the import, and changes nothing' }),
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
        'settings to set: `default` (the settings that a dry run selects; upstreams are tested again, and a ' +
        'pool that does not answer is left out), `none`, or keys, separated by commas',
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
        'answers to the questions of a dry run, as question:choice, separated by commas; for other ' +
        'questions the choice that the dry run proposes is used',
    }),
});

/** The keys of the settings that an import sets; `default` selects the settings that a dry run proposes. */
export type SettingSelection = 'default' | ReadonlySet<string>;

/** Kind of an item of the imported file, in Weir's terms; `other` for kinds without an equivalent in Weir. */
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
    'done: created; changed: updated; skipped: already in Weir; not_mapped: no equivalent in Weir, or ' +
    'left to the user; differs: imported, but with a different effect in Weir',
});
export type ImportItemResult = z.infer<typeof ItemResult>;

export const ImportItem = z
  .strictObject({
    kind: ItemKind,
    name: z.string().meta({ description: 'name of the item in the file; never a secret' }),
    action: z
      .enum(['allow', 'deny'])
      .nullable()
      .meta({ description: 'whether the rule or list allows or denies' }),
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
        'key of the configuration; each pool of dns.pools can be selected separately, by its position, such ' +
        'as dns.pools.0',
    }),
    value: z.unknown().meta({ description: 'the new value of the key; secrets are left out' }),
    selected: z.boolean(),
    reason: z.string().nullable().meta({
      description: 'why the setting is not selected, or a warning; for pools, the servers that do not answer',
    }),
    can_select: z
      .boolean()
      .meta({ description: 'whether the value can be set; if false, `reason` says why not' }),
  })
  .meta({ id: 'ImportSetting' });
export type ImportSetting = z.infer<typeof ImportSetting>;

export const ImportQuestion = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['starting_list', 'device_group']).meta({
      description:
        'question of the import: starting_list = whether to keep the default list; device_group = which group ' +
        'a device that the file identifies only by its address joins',
    }),
    name: z.string().meta({ description: 'name of the list or device that the question is about' }),
    choices: z.array(
      z.strictObject({
        id: z.enum(['keep', 'disable', 'address', 'device']),
        text: z
          .string()
          .meta({ description: 'explanation of the choice; for a device, the name of the group' }),
      }),
    ),
    choice: z.string().meta({ description: 'the choice in the request, otherwise the proposed one' }),
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
        'number of affected queries of the last 7 days, from the query log of Weir or of the export; null ' +
        'without a log',
    }),
  })
  .meta({ id: 'ImportDifference' });
export type ImportDifference = z.infer<typeof ImportDifference>;

export const ImportReport = z
  .strictObject({
    format: z.enum(IMPORT_FORMATS),
    dry_run: z.boolean(),
    revision: Id.nullable().meta({ description: 'the revision that the import created; null if none' }),
    counts: z.strictObject({
      done: Count,
      changed: Count,
      skipped: Count,
      not_mapped: Count,
      differs: Count,
    }),
    items: z.array(ImportItem),
    settings: z.array(ImportSetting).meta({
      description:
        'keys of the configuration that the import can set; the selected keys are set in the same way as by ' +
        'PATCH /config',
    }),
    questions: z.array(ImportQuestion),
    differences: z.array(ImportDifference).meta({
      description:
        'names for which Weir behaves differently from the other program, the most frequently queried ones ' +
        'first',
    }),
    configuration: z.string().meta({
      description: 'settings of the file as TOML, to copy into a configuration file of Weir; empty = none',
    }),
  })
  .meta({ id: 'ImportReport' });
export type ImportReport = z.infer<typeof ImportReport>;
