/** Response of `{api}/list-catalog`. */
import { z } from 'zod';

/** Purpose of a list; `repair` lists allow names that other lists block by mistake. */
export const ListPurpose = z
  .enum(['ads', 'trackers', 'threats', 'mining', 'adult', 'gambling', 'social', 'bypass', 'repair'])
  .meta({ id: 'ListPurpose' });
export type ListPurpose = z.infer<typeof ListPurpose>;

/** A well-known list of another project. */
export const KnownList = z
  .strictObject({
    name: z.string(),
    url: z.string(),
    kind: z.enum(['block', 'allow']),
    purpose: ListPurpose,
    homepage: z.string(),
    licence: z.string().nullable().meta({ description: 'licence of the list; null = see `homepage`' }),
    expires_hours: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'hours between updates by the maintainers of the list; null = see `homepage`' }),
  })
  .meta({ id: 'KnownList' });
export type KnownList = z.infer<typeof KnownList>;
export const KnownListList = z.array(KnownList);
