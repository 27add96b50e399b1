/** Requests and responses of `{api}/safe-search/configs`: engines whose safe mode is enforced for a group. */
import { z } from 'zod';
import { Id, IdParams } from '../fields.ts';

/** Supported engines, in the order in which they are listed. */
export const SAFE_SEARCH_ENGINES = [
  'google',
  'bing',
  'youtube',
  'duckduckgo',
  'brave',
  'ecosia',
  'pixabay',
  'yandex',
] as const;

const Target = z.union([z.strictObject({ cname: z.string() }), z.strictObject({ ipv4: z.string() })]);

/** The file with the engines, which is part of Weir. */
export const SafeSearchEngineFile = z.strictObject({
  schema: z.literal(1),
  note: z.string(),
  engines: z.array(
    z.strictObject({
      id: z.enum(SAFE_SEARCH_ENGINES),
      name: z.string(),
      /** Names whose addresses are the answer to A and AAAA queries. */
      modes: z.strictObject({ strict: Target, moderate: Target.optional() }),
      /** Names to which safe search applies, without their subdomains. */
      domains: z.array(z.string()).min(1),
    }),
  ),
});
export type SafeSearchEngineData = z.output<typeof SafeSearchEngineFile>['engines'][number];

/** Filter level of YouTube; other engines have only one safe mode. */
const YoutubeMode = z.enum(['strict', 'moderate']);

export const SafeSearchConfig = z
  .strictObject({
    group_id: Id,
    engine: z.enum(SAFE_SEARCH_ENGINES),
    enabled: z.boolean(),
    youtube_mode: YoutubeMode.meta({ description: 'filter level of YouTube; ignored for other engines' }),
  })
  .meta({ id: 'SafeSearchConfig' });
export type SafeSearchConfig = z.infer<typeof SafeSearchConfig>;
export const SafeSearchConfigList = z.array(SafeSearchConfig);

/** Path parameters of a group. */
export const SafeSearchParams = z.strictObject({ group_id: IdParams.shape.id });
export type SafeSearchParams = z.output<typeof SafeSearchParams>;

/** An absent `youtube_mode` keeps its value, which is initially strict. */
export const SafeSearchToggleBody = z
  .strictObject({
    engine: z.enum(['all', ...SAFE_SEARCH_ENGINES]).default('all'),
    enabled: z.boolean().default(true),
    youtube_mode: YoutubeMode.optional(),
  })
  .meta({ id: 'SafeSearchToggle' });
export type SafeSearchToggle = z.output<typeof SafeSearchToggleBody>;
