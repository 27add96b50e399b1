/** Answers of `{api}/health`, `{api}/hostname` and `{api}/config`. */
import { z } from 'zod';

/** State of one part of the node. `down` means that it does not do its work at all. */
export const HealthCheck = z
  .strictObject({
    status: z.enum(['ok', 'degraded', 'down']),
    detail: z.string().optional().meta({ description: 'only for whoever is signed in' }),
  })
  .meta({ id: 'HealthCheck' });
export type HealthCheck = z.infer<typeof HealthCheck>;

export const Health = z
  .strictObject({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    node: z.string(),
    uptime_secs: z.int().min(0),
    checks: z.strictObject({
      dns: HealthCheck,
      database: HealthCheck,
      upstreams: HealthCheck,
      filters: HealthCheck,
    }),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const Hostname = z.strictObject({ hostname: z.string() }).meta({ id: 'Hostname' });

const Section = z.record(z.string(), z.unknown());

/** The configuration in force, keys as in the TOML file; secrets are left out. */
export const ConfigAnswer = z
  .strictObject({
    server: Section,
    dns: Section,
    blocking: Section,
    cache: Section,
    logging: Section,
    database: Section,
    auth: Section,
  })
  .meta({ id: 'Config' });
export type ConfigAnswer = z.infer<typeof ConfigAnswer>;
