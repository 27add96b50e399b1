/**
 * The decision order of the contract as a table: one policy for six kinds of clients, and for each question the answer
 * to each client, with the reason. `decision-order.test.ts` sets up the policy and sends the questions.
 */

/** Clients, by how they are assigned to a group. */
export const CLIENTS = {
  /** Assigned manually, by address: group `kids`, with blocked services, safe search, rules and a list. */
  guest: '127.0.0.1',
  /** Assigned by subnet: group `work`, with rules. */
  kid: '127.0.0.11',
  /** Assigned by subnet: group `night`, which the schedule profile `bedtime` blocks all day. */
  worker: '127.0.1.5',
  /** Assigned by a longer prefix within the subnet of `night`: group `free`, for which a schedule allows everything. */
  sleeper: '127.0.2.5',
  /**
   * Client assigned by a longer prefix within the subnet of `night`: group `free`, for which a schedule allows
   * everything.
   */
  free: '127.0.2.130',
  /** Assigned manually, to a disabled group: treated as Default. */
  ghost: '127.0.0.14',
} as const;
export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];

/**
 * Answer to a client: a kind, and after a colon the `block_source` of the log, or the address or target of the answer.
 */
export type Outcome =
  | 'resolved'
  | 'zone'
  | 'refused'
  | 'nodata'
  | 'private'
  | 'rebind'
  | `${'schedule' | 'list' | 'managed' | 'regex' | 'service' | 'cname' | 'cnamenx' | 'listnx'}:${string}`
  | `local:${string}`
  | `safe:${string}`
  | `leads:${string}`
  | `address:${string}`;

/** One question, and the outcome for each client in the order of CLIENT_NAMES. */
export interface DecisionRow {
  readonly why: string;
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'HTTPS' | 'PTR' | 'AXFR';
  readonly outcomes: readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];
}

/** The blocklist of all groups. */
export const GLOBAL_LIST = `
ads.example.com
||track.example.com^
@@||good.track.example.com^
||imp.example.com^$important
@@||imp.example.com^
||both.example.com^
@@||both.example.com^
||cloak.example.net^
||typed.example.com^$dnstype=AAAA
||nx.example.com^$dnsrewrite=NXDOMAIN
||spared.example.com^
||deny.example.com^$denyallow=ok.deny.example.com
||pattern-*-ads.example.com^
||allowlisted.example.com^
||firm.example.com^$important
||local-ads.example.com^
||regex-allowed.example.com^
||www.google.com^$dnstype=TXT
`;
/** The blocklist of the group `kids`. */
export const KIDS_LIST = '||kidsonly.example.com^\n';
/** The allowlist of all groups. */
export const ALLOW_LIST = '||allowlisted.example.com^\n||firm.example.com^\n||managed-deny.example.com^\n';

/** Managed domains: name, domain, action, name of the group or null. */
export const MANAGED = [
  ['spare', 'spared.example.com', 'allow', null],
  ['no deny', 'managed-deny.example.com', 'deny', null],
  ['no subs', '*.sub.example.com', 'deny', null],
  ['one sub', 'ok.sub.example.com', 'allow', null],
  ['homework', 'homework.example.com', 'deny', 'kids'],
  ['kids may', 'kidsonly.example.com', 'allow', 'work'],
  ['tie allow', 'tie.example.com', 'allow', null],
  ['tie deny', 'tie.example.com', 'deny', null],
  ['firm spare', 'imp.example.com', 'allow', 'work'],
  ['games may', 'ok.games.example.com', 'allow', null],
] as const;

/** Regex filters: name, pattern, action, group. */
export const REGEXES = [
  ['numbered ads', '^ad[0-9]+\\.', 'deny', null],
  ['ad seven', '^ad7\\.', 'allow', null],
  ['listed but fine', '^regex-allowed\\.', 'allow', null],
  ['work only', '^social\\.', 'deny', 'work'],
] as const;

const everybody = (
  outcome: Outcome,
  sleeper: Outcome = 'schedule:bedtime',
  free: Outcome = 'resolved',
): DecisionRow['outcomes'] => [outcome, outcome, outcome, sleeper, free, outcome];

/** Rows of the table. */
export const DECISIONS: readonly DecisionRow[] = [
  { why: 'no rule matches', name: 'plain.example.com', type: 'A', outcomes: everybody('resolved') },
  { why: 'a listed name', name: 'ads.example.com', type: 'A', outcomes: everybody('list:global') },
  {
    why: 'exact names do not match subdomains',
    name: 'x.ads.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a listed name and its subdomains',
    name: 'a.b.track.example.com',
    type: 'A',
    outcomes: everybody('list:global'),
  },
  {
    why: 'an exception outranks the rule above it',
    name: 'good.track.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'important outranks an exception; a managed allow outranks important',
    name: 'imp.example.com',
    type: 'A',
    outcomes: ['list:global', 'list:global', 'resolved', 'schedule:bedtime', 'resolved', 'list:global'],
  },
  {
    why: 'allow outranks deny at the same level',
    name: 'both.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a condition on the type is met',
    name: 'typed.example.com',
    type: 'AAAA',
    outcomes: everybody('list:global', 'schedule:bedtime', 'nodata'),
  },
  {
    why: 'a condition on the type is not met',
    name: 'typed.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a rule with its own answer',
    name: 'nx.example.com',
    type: 'A',
    outcomes: everybody('listnx:global'),
  },
  {
    why: 'denyallow excludes a name',
    name: 'ok.deny.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'denyallow blocks the rest',
    name: 'no.deny.example.com',
    type: 'A',
    outcomes: everybody('list:global'),
  },
  { why: 'a pattern', name: 'pattern-7-ads.example.com', type: 'A', outcomes: everybody('list:global') },
  {
    why: 'an allowlist outranks a blocklist',
    name: 'allowlisted.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'an allowlist outranks $important',
    name: 'firm.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a list of one group',
    name: 'kidsonly.example.com',
    type: 'A',
    outcomes: ['resolved', 'list:kids list', 'resolved', 'schedule:bedtime', 'resolved', 'resolved'],
  },
  {
    why: 'a managed allow outranks a list',
    name: 'spared.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a managed deny outranks an allowlist',
    name: 'managed-deny.example.com',
    type: 'A',
    outcomes: everybody('managed:no deny'),
  },
  {
    why: 'a managed domain with its subdomains',
    name: 'deep.sub.example.com',
    type: 'A',
    outcomes: everybody('managed:no subs'),
  },
  {
    why: 'the managed name itself matches',
    name: 'sub.example.com',
    type: 'A',
    outcomes: everybody('managed:no subs'),
  },
  {
    why: 'a managed allow outranks a managed deny above it',
    name: 'ok.sub.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'allow outranks deny among managed domains',
    name: 'tie.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a managed domain of one group',
    name: 'homework.example.com',
    type: 'A',
    outcomes: ['resolved', 'managed:homework', 'resolved', 'schedule:bedtime', 'resolved', 'resolved'],
  },
  { why: 'a regex filter', name: 'ad12.example.com', type: 'A', outcomes: everybody('regex:numbered ads') },
  {
    why: 'a regex allow outranks a regex deny',
    name: 'ad7.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a regex deny outranks an exception of a list',
    name: 'ad3.good.track.example.com',
    type: 'A',
    outcomes: everybody('regex:numbered ads'),
  },
  {
    why: 'a regex allow outranks a list',
    name: 'regex-allowed.example.com',
    type: 'A',
    outcomes: everybody('resolved'),
  },
  {
    why: 'a regex filter of one group',
    name: 'social.example.com',
    type: 'A',
    outcomes: ['resolved', 'resolved', 'regex:work only', 'schedule:bedtime', 'resolved', 'resolved'],
  },
  {
    why: 'a blocked service',
    name: 'play.games.example.com',
    type: 'A',
    outcomes: ['resolved', 'service:Games', 'resolved', 'schedule:bedtime', 'resolved', 'resolved'],
  },
  {
    why: 'services come before managed domains',
    name: 'ok.games.example.com',
    type: 'A',
    outcomes: ['resolved', 'service:Games', 'resolved', 'schedule:bedtime', 'resolved', 'resolved'],
  },
  {
    why: 'local records come before services',
    name: 'local.games.example.com',
    type: 'A',
    outcomes: [
      'local:192.0.2.21',
      'local:192.0.2.21',
      'local:192.0.2.21',
      'schedule:bedtime',
      'local:192.0.2.21',
      'local:192.0.2.21',
    ],
  },
  {
    why: 'local records come before lists',
    name: 'local-ads.example.com',
    type: 'A',
    outcomes: [
      'local:192.0.2.20',
      'local:192.0.2.20',
      'local:192.0.2.20',
      'schedule:bedtime',
      'local:192.0.2.20',
      'local:192.0.2.20',
    ],
  },
  {
    why: 'a wildcard among local records',
    name: 'any.apps.example.org',
    type: 'A',
    outcomes: [
      'local:192.0.2.22',
      'local:192.0.2.22',
      'local:192.0.2.22',
      'schedule:bedtime',
      'local:192.0.2.22',
      'local:192.0.2.22',
    ],
  },
  {
    why: 'a local record has a PTR record automatically',
    name: '20.2.0.192.in-addr.arpa',
    type: 'PTR',
    outcomes: [
      'local:local-ads.example.com',
      'local:local-ads.example.com',
      'local:local-ads.example.com',
      'schedule:bedtime',
      'local:local-ads.example.com',
      'local:local-ads.example.com',
    ],
  },
  {
    why: 'private reverse names are blocked, unless a schedule allows all',
    name: '7.1.168.192.in-addr.arpa',
    type: 'PTR',
    outcomes: ['private', 'private', 'private', 'schedule:bedtime', 'nodata', 'private'],
  },
  {
    why: 'zone transfers are refused to all',
    name: 'plain.example.com',
    type: 'AXFR',
    outcomes: ['refused', 'refused', 'refused', 'refused', 'refused', 'refused'],
  },
  {
    why: 'safe search applies to a group',
    name: 'www.google.com',
    type: 'A',
    outcomes: [
      'resolved',
      'safe:forcesafesearch.google.com',
      'resolved',
      'schedule:bedtime',
      'resolved',
      'resolved',
    ],
  },
  {
    why: 'safe search cannot be bypassed by HTTPS records',
    name: 'www.google.com',
    type: 'HTTPS',
    outcomes: ['nodata', 'safe:', 'nodata', 'schedule:bedtime', 'nodata', 'nodata'],
  },
  {
    why: 'an alias of a blocked name',
    name: 'cloaked.example.org',
    type: 'A',
    outcomes: everybody('cname:global', 'schedule:bedtime', 'leads:x.cloak.example.net'),
  },
  {
    why: 'an alias of a name of a service',
    name: 'to-games.example.org',
    type: 'A',
    outcomes: [
      'leads:play.games.example.com',
      'cnamenx:Games',
      'leads:play.games.example.com',
      'schedule:bedtime',
      'leads:play.games.example.com',
      'leads:play.games.example.com',
    ],
  },
  {
    why: 'a forward zone',
    name: 'host.corp.example.net',
    type: 'A',
    outcomes: ['zone', 'zone', 'zone', 'schedule:bedtime', 'zone', 'zone'],
  },
  {
    why: 'a private address for a public name, unless a schedule allows all',
    name: 'rebind.example.org',
    type: 'A',
    outcomes: ['rebind', 'rebind', 'rebind', 'schedule:bedtime', 'address:192.168.7.7', 'rebind'],
  },
];
