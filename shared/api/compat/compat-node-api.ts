/** Responses of the compatibility API about the node: blocking, versions, the machine. */
import { z } from 'zod';
import { body, Count, Percent } from './compat-api.ts';

export const CompatBlocking = body({
  blocking: z.enum(['enabled', 'disabled', 'failure', 'unknown']),
  timer: z.int().min(0).nullable(),
});
export type CompatBlocking = z.infer<typeof CompatBlocking>;

export const CompatLoginInfo = body({ dns: z.boolean(), https_port: z.int().min(0).max(65_535) });
export type CompatLoginInfo = z.infer<typeof CompatLoginInfo>;

const Text = z.string().nullable();
const Local = { branch: Text, version: Text, hash: Text };
const Remote = z.strictObject({ version: Text, hash: Text });
const Component = z.strictObject({ local: z.strictObject(Local), remote: Remote });

const Versions = z.strictObject({
  core: Component,
  web: Component,
  ftl: z.strictObject({ local: z.strictObject({ ...Local, date: Text }), remote: Remote }),
  docker: z.strictObject({ local: Text, remote: Text }),
});
export type CompatVersions = z.infer<typeof Versions>;

export const CompatVersion = body({ version: Versions });
export type CompatVersion = z.infer<typeof CompatVersion>;

const Share = z.number().min(0);
const Load = z.tuple([Share, Share, Share]);
const System = z.strictObject({
  uptime: Count,
  memory: z.strictObject({
    ram: z.strictObject({ total: Count, free: Count, used: Count, available: Count, '%used': Percent }),
    swap: z.strictObject({ total: Count, free: Count, used: Count, '%used': Percent }),
  }),
  procs: Count,
  cpu: z.strictObject({
    nprocs: z.int().min(1),
    '%cpu': Percent,
    load: z.strictObject({ raw: Load, percent: Load }),
  }),
  ftl: z.strictObject({ '%mem': Percent, '%cpu': Share }),
});
export type CompatSystem = z.infer<typeof System>;

export const CompatSystemInfo = body({ system: System });

const Numbers = z.strictObject({ total: Count, enabled: Count });
const ByAction = z.strictObject({ allowed: Numbers, denied: Numbers });

export const CompatFtlInfo = body({
  ftl: z.strictObject({
    database: z.strictObject({
      gravity: Count,
      groups: Count,
      lists: Count,
      clients: Count,
      domains: ByAction,
      regex: ByAction,
    }),
    privacy_level: z.literal(0),
    query_frequency: z.number().min(0),
    clients: z.strictObject({ total: Count, active: Count }),
    pid: Count,
    uptime: Count,
    '%mem': Percent,
    '%cpu': Share,
    allow_destructive: z.literal(false),
    dnsmasq: z.record(z.string(), Count),
  }),
});
export type CompatFtlInfo = z.infer<typeof CompatFtlInfo>;

const Traffic = z.strictObject({ value: z.number().min(0), unit: z.string() });
const Interface = { addr: Text, num_addrs: Count, name: z.string(), gw_addr: Text };
const Interfaces = z.strictObject({
  v4: z.strictObject({ ...Interface, rx_bytes: Traffic, tx_bytes: Traffic }),
  v6: z.strictObject(Interface),
});
export type CompatInterfaces = z.infer<typeof Interfaces>;

export const CompatPadd = body({
  recent_blocked: Text,
  top_domain: Text,
  top_blocked: Text,
  top_client: Text,
  active_clients: Count,
  gravity_size: Count,
  blocking: z.string(),
  queries: z.strictObject({ total: Count, blocked: Count, percent_blocked: Percent }),
  cache: z.strictObject({ size: Count, inserted: Count, evicted: Count }),
  system: System,
  node_name: z.string(),
  host_model: Text,
  /** Only present, like `version`, if all fields were requested. */
  iface: Interfaces.optional(),
  version: Versions.optional(),
  config: z.strictObject({
    dhcp_active: z.literal(false),
    dhcp_start: z.literal(''),
    dhcp_end: z.literal(''),
    dhcp_ipv6: z.literal(false),
    dns_domain: z.string(),
    dns_port: z.int().min(1),
    dns_num_upstreams: Count,
    dns_dnssec: z.boolean(),
    dns_revServer_active: z.boolean(),
    privacy_level: z.literal(0),
  }),
  '%mem': Percent,
  '%cpu': Share,
  pid: Count,
  sensors: z.strictObject({ cpu_temp: z.number().nullable(), hot_limit: z.number(), unit: z.literal('C') }),
});
export type CompatPadd = z.infer<typeof CompatPadd>;
