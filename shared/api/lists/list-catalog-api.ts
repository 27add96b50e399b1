/** Answer of `{api}/list-catalog`. */
import { z } from 'zod';

/** Purpose of a list; `repair` allows names that other lists block by mistake. */
export const ListPurpose = z
  .enum(['ads', 'trackers', 'threats', 'mining', 'adult', 'gambling', 'social', 'bypass', 'repair'])
  .meta({ id: 'ListPurpose' });
export type ListPurpose = z.infer<typeof ListPurpose>;

/** A well-known list; its maintainers decide its content. */
export const KnownList = z
  .strictObject({
    name: z.string(),
    url: z.string(),
    kind: z.enum(['block', 'allow']),
    purpose: ListPurpose,
    homepage: z.string(),
    licence: z.string().nullable().meta({ description: 'null = see its page' }),
    expires_hours: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: 'how often its maintainers update it; null = see its page' }),
  })
  .meta({ id: 'KnownList' });
export type KnownList = z.infer<typeof KnownList>;
export const KnownListList = z.array(KnownList);
