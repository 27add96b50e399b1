/** Settings of a Pi-hole, from any of its files. Plain data. */

export interface PiholeGroup {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly comment: string;
}

export interface PiholeList {
  readonly id: number;
  readonly address: string;
  readonly kind: 'block' | 'allow';
  readonly enabled: boolean;
  readonly comment: string;
}

export interface PiholeDomain {
  readonly id: number;
  /** 0 exact allow, 1 exact deny, 2 regex allow, 3 regex deny. */
  readonly type: number;
  readonly domain: string;
  readonly enabled: boolean;
  readonly comment: string;
}

export interface PiholeClient {
  readonly id: number;
  /** An address, a network, a MAC, a host name, or `:` with an interface. */
  readonly ip: string;
  readonly comment: string;
}

/** A device that Pi-hole has seen. */
export interface PiholeDevice {
  readonly mac: string;
  readonly address: string;
  readonly name: string;
}

/** Ids of groups by the id of their members. */
export type Links = ReadonlyMap<number, readonly number[]>;

export interface GravityTables {
  readonly groups: readonly PiholeGroup[];
  readonly lists: readonly PiholeList[];
  readonly domains: readonly PiholeDomain[];
  readonly clients: readonly PiholeClient[];
  readonly listLinks: Links;
  readonly domainLinks: Links;
  readonly clientLinks: Links;
  /** Whether the upload has the tables; if not, they are empty. */
  readonly hasTables: boolean;
}

/** The keys with an equivalent in Weir, of version 6 or 5; undefined = not given. */
export interface PiholeKeys {
  readonly upstreams?: readonly string[] | undefined;
  /** Lines of a hosts file. */
  readonly hosts?: readonly string[] | undefined;
  /** `name[,name...],target[,ttl]`. */
  readonly cnames?: readonly string[] | undefined;
  /** `enabled,network,server#port,domain`. */
  readonly revServers?: readonly string[] | undefined;
  readonly localDomain?: string | undefined;
  /**
   * Whether names of the local domain are never forwarded; undefined before version 6.3, which had no switch for this.
   */
  readonly isDomainLocal?: boolean | undefined;
  /** Whether single-label names in `hosts` also exist in the local domain. */
  readonly expandHosts?: boolean | undefined;
  /** `name[,name...],address[,address][,ttl]`, or empty. */
  readonly hostRecord?: string | undefined;
  readonly domainNeeded?: boolean | undefined;
  readonly bogusPriv?: boolean | undefined;
  readonly dnssec?: boolean | undefined;
  readonly blockingActive?: boolean | undefined;
  readonly blockingMode?: string | undefined;
  readonly blockTtl?: number | undefined;
  /** Addresses in answers of the blocking mode `IP`; empty or undefined = those of the Pi-hole. */
  readonly blockingIpv4?: string | undefined;
  readonly blockingIpv6?: string | undefined;
  /** 0 = nothing is hidden, 3 = nothing is stored. */
  readonly privacyLevel?: number | undefined;
  readonly logDays?: number | undefined;
  /** Age up to which expired answers are used; 0 = any age, -1 = none. */
  readonly staleSecs?: number | undefined;
  /** Whether queries of the machine itself are hidden. */
  readonly ignoresLocalhost?: boolean | undefined;
  /** Regular expressions for names and clients that statistics and the log hide. */
  readonly excludedDomains?: readonly string[] | undefined;
  readonly excludedClients?: readonly string[] | undefined;
  /** All values of the TOML by path, such as `dns.cache.size`. */
  readonly others?: ReadonlyMap<string, unknown> | undefined;
  readonly rateLimit?: { readonly count: number; readonly interval: number } | undefined;
  readonly specialDomains?: Readonly<Record<string, boolean>> | undefined;
  /** Lines of dnsmasq's `dhcp-host`. */
  readonly dhcpHosts?: readonly string[] | undefined;
  readonly dhcpActive?: boolean | undefined;
  /** `LOCAL`, `SINGLE`, `BIND`, `ALL` or `NONE`, in any case. */
  readonly listeningMode?: string | undefined;
  /** Network interface on which Pi-hole answers queries. */
  readonly networkInterface?: string | undefined;
  readonly dnsmasqLines?: readonly string[] | undefined;
  readonly readsDnsmasqFolder?: boolean | undefined;
}

export interface PiholeSettings extends GravityTables {
  readonly devices: readonly PiholeDevice[];
  readonly keys: PiholeKeys;
  /** Lines of the machine's own hosts file. */
  readonly systemHosts: readonly string[];
  readonly leases: readonly string[];
  /** Lines of further files of dnsmasq, by path. */
  readonly dnsmasqFiles: readonly (readonly [path: string, lines: readonly string[]])[];
}
