/** The engines that are shipped: names and targets, see `NOTICE.md` for where they are from. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SAFE_SEARCH_ENGINES } from '../../shared/api/safe-search.ts';

const Target = z.union([z.strictObject({ cname: z.string() }), z.strictObject({ ipv4: z.string() })]);
const EngineFile = z.strictObject({
  schema: z.literal(1),
  note: z.string(),
  engines: z.array(
    z.strictObject({
      id: z.enum(SAFE_SEARCH_ENGINES),
      name: z.string(),
      modes: z.strictObject({ strict: Target, moderate: Target.optional() }),
      domains: z.array(z.string()).min(1),
    }),
  ),
});

/** One engine. */
export type EngineData = z.output<typeof EngineFile>['engines'][number];

const SHIPPED = new URL('./engines-data.json', import.meta.url);

/** All engines, in the order of the file. */
export const ENGINES: readonly EngineData[] = EngineFile.parse(
  JSON.parse(readFileSync(SHIPPED, 'utf8')),
).engines;
