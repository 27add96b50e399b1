/** English texts of the reasons of imports from Technitium, NextDNS and Control D; see `import-reasons.ts`. */
export const OTHER_IMPORT_REASONS = {
  profile_proxy: 'Weir cannot redirect it through a proxy',
  profile_action: 'its action is unknown to Weir',
  profile_list_url: 'Weir does not know the URL of this list',
  profile_recreation: 'also blocked in its recreation time: assign a schedule profile',
  profile_service_list: 'add a list of such services instead',
  profile_name_list: 'add a list of such names instead',
  profile_nextdns_service: 'it is a service of NextDNS',
  profile_telemetry: 'block its telemetry as a service instead',
  profile_nextdns_only: 'it only affects how NextDNS runs',
  profile_block_page: 'Weir has no page for blocked names: see blocking.mode',
  profile_blockchain: 'Weir does not resolve blockchain names',
  profile_own_log: 'Weir stores its log itself',
  technitium_no_client: 'it applies to no client',
  technitium_server_address: 'Weir does not choose groups by the server address that was queried',
  technitium_no_group: 'it is not a network with a group',
  technitium_one_answer: 'Weir uses blocking.mode for all clients',
  technitium_allowed_regex:
    'in Technitium an allowed regular expression takes precedence over a blocked name; in Weir the name takes precedence',
  technitium_add_settings:
    'add the answer of /api/settings/get to the zip as settings.json, to import forwarders and blocking',
  technitium_apps: 'Weir has no apps',
  technitium_zone_itself: 'Weir answers it itself',
  technitium_binary_zone:
    'it is in binary form: export it as text, and add the file to the folder zones of the zip',
  technitium_zone_line: 'Weir cannot read this line of the zone {zone}',
  technitium_nxdomain: 'NXDOMAIN for names without a local record',
  technitium_unneeded: 'Weir does not need it',
  technitium_exceptions: 'Weir does not support exceptions from forward zones',
  technitium_rate_limit: 'Weir limits queries per second: see dns.rate_limit',
  technitium_recursion: 'Weir resolves names for every allowed client: set dns.allowed_clients',
  technitium_network_order:
    'networks before it are exceptions from it, which Weir does not support: check dns.blocked_clients',
  technitium_protocol: 'Weir does not support DNS over {protocol}',
  technitium_bypass: 'put it into a group without rules',
} as const;
