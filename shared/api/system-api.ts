/** Responses of `{api}/health`, `{api}/hostname` and `{api}/system/…`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

/** State of one part of the node. `down` = the part does not work at all. */
export const HealthCheck = z
  .strictObject({
    status: z.enum(['ok', 'degraded', 'down']),
    detail: z.string().optional().meta({ description: 'explanation of the state; only for logged-in users' }),
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
      nodes: HealthCheck.meta({
        description:
          'the other nodes that share the database; degraded if a node does not report, uses an older policy ' +
          'or runs another version',
      }),
      clock: HealthCheck.meta({
        description:
          'degraded if the clock is behind the release date of Weir or the last known time, or differs ' +
          'from the clock of the database by more than 2 s',
      }),
      access: HealthCheck.meta({
        description:
          'which clients may use this server; degraded if recent clients are about to be refused, or if anyone on the internet may use it without a rate limit',
      }),
      web: HealthCheck.meta({
        description: 'the web server; down if it cannot listen, for example because its port is in use',
      }),
      certificates: HealthCheck.meta({
        description:
          'certificates of the web server and of encrypted DNS; degraded from two weeks before a certificate ' +
          'expires, and while a new one cannot be used',
      }),
      disk: HealthCheck.meta({
        description:
          'degraded while the disk of the data directory or the spool of the query log is nearly full',
      }),
      configuration: HealthCheck.meta({
        description: 'degraded if the last reload of the configuration file failed',
      }),
      privileges: HealthCheck.meta({
        description: 'always ok; the detail reports whether Weir runs as root',
      }),
    }),
  })
  .meta({ id: 'Health' });
export type Health = z.infer<typeof Health>;

export const Hostname = z.strictObject({ hostname: z.string() }).meta({ id: 'Hostname' });

const Percent = z.number().min(0);

export const SystemInfo = z
  .strictObject({
    kernel: z.string().meta({
      description: 'name and release of the operating system kernel',
      examples: ['Linux 6.8.0-45-generic'],
    }),
    load_avg_1m: z.number().min(0),
    load_avg_5m: z.number().min(0),
    load_avg_15m: z.number().min(0),
    mem_total_kb: z.int().min(0),
    mem_used_kb: z.int().min(0).meta({ description: 'memory in use: total memory minus mem_available_kb' }),
    mem_available_kb: z.int().min(0),
    mem_used_percent: Percent,
    process: z.strictObject({
      rss_kb: z.int().min(0),
      cpu_percent: Percent.meta({
        description:
          'CPU time of the process as a percentage of one core, since the last request but measured over at ' +
          'least a second',
      }),
      workers: z
        .array(
          z.strictObject({
            worker: z.int().min(0),
            answer_cpu_percent: Percent,
            resolve_cpu_percent: Percent,
          }),
        )
        .meta({ description: 'CPU usage of the DNS threads; Linux only' }),
    }),
  })
  .meta({ id: 'SystemInfo' });
export type SystemInfo = z.infer<typeof SystemInfo>;

const Bytes = z.int().min(0).nullable();

export const SystemStorage = z
  .strictObject({
    disk_free_bytes: Bytes.meta({
      description:
        'bytes on the disk of the data directory that Weir can still use; null until it is measured',
    }),
    disk_size_bytes: Bytes,
    spool_bytes: Bytes.meta({
      description:
        'bytes of query-log rows on the disk of the data directory that wait for the database; null = no ' +
        'such rows can be stored',
    }),
    database_bytes: Bytes.meta({ description: 'size of the database; null while it is unavailable' }),
  })
  .meta({ id: 'SystemStorage' });
export type SystemStorage = z.infer<typeof SystemStorage>;

/** The newest warnings and errors in the log of the node. */
export const SystemLog = z
  .array(
    z.strictObject({
      timestamp: Timestamp,
      level: z.enum(['warn', 'error']),
      message: z.string(),
      fields: z.string().meta({ examples: ['list="Ads" reason="timed out"'] }),
    }),
  )
  .meta({ id: 'SystemLog', description: 'the newest warnings and errors since the start, at most 200' });
export type SystemLog = z.infer<typeof SystemLog>;

const DnsReach = z.strictObject({
  dns_port: z
    .int()
    .min(1)
    .max(65535)
    .meta({ description: 'the port on which this node answers DNS queries' }),
  is_chosen: z.boolean().meta({ description: 'whether server.dns_port sets a port other than 53' }),
  port_53: z.enum(['weir', 'free', 'taken', 'not_permitted']).meta({
    description:
      'weir: this node uses port 53; free: this node will use it after a restart; taken: another program ' +
      'uses it; not_permitted: the user that runs Weir may not listen on it',
  }),
  holder: z
    .strictObject({ program: z.string().nullable(), pid: z.int().min(1).nullable() })
    .nullable()
    .meta({
      description: 'the program that uses port 53; null if it is not visible to the user that runs Weir',
    }),
  command: z
    .string()
    .nullable()
    .meta({ description: 'command that frees port 53 for Weir, as one line for a shell' }),
});
export type DnsReach = z.infer<typeof DnsReach>;

export const Reachability = z
  .strictObject({
    dns: DnsReach,
    is_container: z.boolean().meta({ description: 'whether the addresses belong to a container' }),
    addresses: z
      .array(
        z.strictObject({
          address: z.string(),
          kind: z.enum(['ipv4', 'ula', 'link_local']),
          interface: z.string(),
        }),
      )
      .meta({
        description:
          'addresses at which devices in the network reach this node, the best one first: IPv4, unique local ' +
          '(RFC 4193) and link-local',
      }),
    this_device: z.strictObject({
      address: z.string().meta({ description: 'address from which this request came' }),
      is_server: z
        .boolean()
        .meta({ description: 'whether this request came from the machine that runs the node' }),
      last_seen: Timestamp.nullable().meta({
        description: 'time of the last query from this address; null if there is none',
      }),
    }),
    devices: z.int().min(0).meta({
      description: 'number of devices that have sent queries, without the machine that runs the node',
    }),
    names_active: z.int().min(0).meta({ description: 'number of names and rules that block' }),
  })
  .meta({ id: 'Reachability' });
export type Reachability = z.infer<typeof Reachability>;
