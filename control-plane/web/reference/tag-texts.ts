/** Descriptions of the chapters of the API reference. */
export const TAG_TEXTS: Readonly<Record<string, string>> = {
  System: 'The node: its health, name, configuration, and this reference.',
  Probes: 'Check whether a device uses this node, as the page /check does.',
  Authentication: 'Logging in and out, the first password, and open sessions.',
  HTTPS: 'The certificate of the web port.',
  'API tokens': 'Keys of programs, sent as X-Api-Key or Authorization: Bearer. Each has a role.',
  Users: 'Who may log in: the administrator of the configuration, and users with a role.',
  Groups:
    'Groups of clients; policy is set per group. Clients without another group belong to Default, id 1.',
  Clients:
    'Clients, which are identified by MAC address, IP address or key, and the networks that assign ' +
    'clients to groups.',
  Lists: 'Blocklists and allowlists: their sources, and the rules compiled from them.',
  Rules: 'Managed domains and regex filters: rules that users write. They take precedence over lists.',
  Services: 'The catalog of services, the services that groups block, and custom services.',
  'Safe search': 'Search engines whose safe mode is enforced for a group.',
  Schedules: 'Profiles of time slots that block or allow everything for a group.',
  Blocking: 'Enabling and pausing all blocking, with a timer.',
  Grants: 'Temporary rules that allow or block names for a client, a group or everyone.',
  Explain: 'The reason for an answer, stage by stage.',
  Revisions: 'Every policy change, and rollback to an earlier policy.',
  Moving: 'Import of the settings of other programs from their exports.',
  'Audit log': 'Who changed what, when and from where.',
  Backup: 'One file with everything that users have set, and restoring it.',
  'Local names': 'Names that this server answers itself.',
  Forwarding:
    'Zones that are forwarded to their own servers, and how names of the local network are looked up.',
  Cache: 'The answer cache: statistics, entries, and clearing it.',
  Upstreams: 'The state of upstream servers.',
  'Query log': 'Answered queries: pages, exports, and a live stream.',
  Statistics: 'Numbers of queries: summaries, timelines, and top lists.',
};
