/** English texts of the reasons of imports from AdGuard Home; see `import-reasons.ts`. */
export const ADGUARD_REASONS = {
  adguard_short_key: 'its key is too short for queries from any address',
  adguard_known_key: 'a client with a known key may send queries from any address',
  adguard_allowed_set: 'AdGuard Home ignores it while dns.allowed_clients is set',
  adguard_not_client: 'it is not an address, network or ClientID',
  adguard_not_client_or_mac: 'it is not an address, network, MAC or ClientID',
  adguard_not_answered: 'AdGuard Home does not answer; Weir answers as for a blocked name',
  adguard_name_itself: '{name} itself is not blocked',
  adguard_host_exceptions: 'Weir does not support exceptions from blocked hosts',
  adguard_list_rule: 'imported as a list rule: allowlists take precedence over it',
  adguard_client_settings: 'Weir does not support these settings for single clients: {settings}',
  adguard_tags:
    'custom rules with $ctag are imported with its addresses instead; list rules with $ctag have no effect in Weir',
  adguard_group: 'created for clients with these settings',
  adguard_upstream_file:
    'the upstreams are in this file, which is not in the upload: add it to the archive, or enter the upstreams manually',
  adguard_fastest: 'AdGuard Home tests the addresses in answers; Weir uses the fastest server',
  adguard_general_upstreams: 'uses the general upstream servers',
  adguard_zone_itself: '{zone} itself is also resolved by these servers',
  adguard_private_names:
    "AdGuard Home looks up names of private addresses with its machine's resolvers; in Weir, set dns.local_dns_server",
  adguard_reverse_names:
    'AdGuard Home looks them up with these servers; in Weir, local records also answer for their own addresses',
  adguard_updates: 'Weir always updates lists',
  adguard_pause_passed: 'that time has passed',
  adguard_pause: 'blocking is paused until then',
  adguard_cache_default: "this is AdGuard Home's default; Weir's default has space for more names",
  adguard_stale:
    'Weir refreshes popular answers before they expire, and serves stale ones while no upstream responds',
  adguard_timeout_default: "this is AdGuard Home's default; most clients time out sooner",
  adguard_dnssec: 'AdGuard Home only requests signatures; Weir validates them and rejects bogus answers',
  adguard_ecs: 'Weir forwards the subnets that clients send, and adds none itself',
  adguard_custom_ecs: 'Weir cannot send a configured subnet',
  adguard_dhcp_domain: "it belongs to AdGuard Home's DHCP server, which is disabled",
  adguard_lease: 'the lease expires; add a record if the device keeps its address',
  adguard_anonymized: 'Weir keeps the first three bytes of IPv4 addresses, and six of IPv6 addresses',
  adguard_log_memory:
    'AdGuard Home keeps the query log in memory only; Weir stores it: disable database.log_queries to store nothing',
  adguard_excludes_subdomains: 'Weir also excludes its subdomains',
  adguard_excludes_name: 'Weir also excludes {name} itself',
  adguard_statistics_day: "one day is AdGuard Home's default; Weir also shows weeks and months",
  adguard_statistics: 'Weir counts queries even if the query log is disabled',
  adguard_cloud: 'it queries a cloud service; add lists of such names instead',
  adguard_ipsets: 'Weir does not fill ipsets',
  adguard_hosts_file:
    'AdGuard Home also answers names in /etc/hosts of its machine, which is not in the export: also import that file if it has names of your network',
  adguard_http2: 'Weir uses HTTP/2',
  adguard_tls: 'certificates and keys are not imported: see server.encrypted_dns',
  adguard_passwords: 'passwords are not imported',
  adguard_own: "concerns only AdGuard Home's own web interface and process",
  adguard_localhost: 'Weir always answers it with 127.0.0.1 and ::1',
  adguard_loopback: 'AdGuard Home answers their names with this address; Weir answers as for a blocked name',
  adguard_hosts_type:
    'for the other address type (A or AAAA), AdGuard Home answers 0.0.0.0 or ::; Weir answers NODATA',
  adguard_hosts_mode:
    'AdGuard Home blocks them with blocking_mode {mode}; Weir answers with the address in their line',
  adguard_several_rewrites:
    'AdGuard Home may choose another rule; Weir uses the first alias, otherwise the first response code',
  adguard_alias_types: 'AdGuard Home forwards queries for types other than A and AAAA; Weir answers NODATA',
  adguard_service_answers:
    'AdGuard Home answers names of blocked services as blocking_mode says; Weir answers NXDOMAIN',
  adguard_newer_schema:
    'newer than {newest}, the newest that Weir knows: compare this report with the settings in AdGuard Home',
  adguard_no_ipv6: 'imported as no_ipv6 for every group',
  adguard_filters_nobody: 'AdGuard Home does not filter any client, so it is imported as disabled',
  adguard_no_filtering: 'AdGuard Home does not filter any client',
  adguard_local_list: 'it is a local file: add data/filters/{id}.txt to the archive',
  adguard_bogus: 'AdGuard Home answers NXDOMAIN; Weir answers as for a blocked name',
  adguard_service_exceptions:
    'in AdGuard Home an exception takes precedence over a blocked service; in Weir the service stays blocked',
  adguard_unfiltered_clients:
    'AdGuard Home does not filter these clients and applies no rewrites to them; in Weir, local records apply to all clients',
  adguard_forwarded_anyway: 'no rewrite answers the name, so it is forwarded anyway',
  adguard_record_answers:
    'AdGuard Home forwards it; in Weir the record {domain} answers, because local records have no exceptions',
  adguard_name_and_tag: 'Weir does not support rules that select clients by both name and tag',
  adguard_no_tag: 'no client has this tag',
  adguard_odd_escape:
    'a regular expression with \\S or \\x matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_scheme:
    'a rule with a scheme matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_dot:
    'a name with a trailing dot matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_capitals:
    'a plain name with capital letters or a trailing dot matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_hosts:
    'a line of a hosts file with * matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_badfilter:
    '$badfilter with capital letters matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_client:
    '$client with a name in different letter case matches nothing in AdGuard Home; Weir applies the rule as written',
  adguard_odd_code: 'AdGuard Home treats a lower-case response code as a name; Weir treats it as the code',
  adguard_odd_ech: 'AdGuard Home omits an ech value that ends with =; Weir sends it',
  adguard_no_client: 'it refers to a client without an address, MAC or ClientID',
  adguard_matches_urls: 'it matches URLs; domain names contain no slash',
  adguard_time_zone: 'in the time zone of this machine, {timeZone}',
} as const;
