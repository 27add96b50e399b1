/**
 * Messages with which the API reports faults of a request, by code: errors of fields, and details of problems.
 * `read-fault.ts` recognizes these messages, so that the dashboard can show them in other languages. A name in braces
 * is a parameter. Messages that requests of the dashboard cannot cause are not in the set.
 */
import { ACME_FORMS, ACME_LINES } from './acme-lines.ts';
import { BACKUP_LINES } from './backup-lines.ts';
import { REFUSAL_LINES } from './refusal-lines.ts';
import { UPLOAD_LINES } from './upload-lines.ts';

/** Expected values and other parts of a message: the parameters `{what}`, `{got}`, `{unit}`, `{where}` and `{why}`. */
const FORMS = {
  // Addresses and names
  any_ip: 'an IPv4 or IPv6 address',
  ip: 'an IP address',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  mac: 'a MAC address',
  network: 'a network',
  ip_or_network: 'an IP address or a network in CIDR',
  ip_list: 'an address, a MAC or a key',
  wide_network:
    'a prefix of at least /8 (IPv4) or /16 (IPv6); to allow all clients, set dns.allowed_clients to any',
  allowed_client: 'private, connected, any, or a network such as 10.0.0.0/8 or 2001:db8::/32',
  blocked_client: 'a network such as 10.0.0.0/8, a MAC address such as 02:00:5e:10:00:01, or a client key',
  link_local: 'a link-local address with its interface, such as {example} or {other}',
  domain: 'a domain name',
  domain_below: 'a domain name; it also covers its subdomains',
  domain_star: 'a domain name, with `*.` before it to cover its subdomains',
  domain_star_dot: 'a domain name, or *. before one',
  domain_all: 'a domain name, or `*` for all names in the domain',
  domain_reverse: 'a domain name, or a network such as {example} for its reverse zone',
  label: '1 to 63 letters, digits and hyphens, with no hyphen at either end',
  labels: 'more than one label',
  some_domain: 'at least one domain',
  server: 'a server',
  resolver: 'a resolver',
  upstream: 'an upstream server',
  receiver: 'a receiver',
  url: 'a URL',
  https_url: 'an https:// URL',
  issuer: 'an https:// URL without a query, such as {example}',
  file_path: 'the path of a file, without %2F and %00',
  path: 'the path of a file or directory',
  list_dir: 'a file in a directory of blocking.list_dirs ({dirs})',
  credentials: 'credentials, not ***: none are stored for this host',
  // Local records
  name: 'a name',
  other_name: 'a name other than its own',
  record: 'a record',
  record_line: 'a record such as {example}; types are {types}',
  record_name: 'a record that starts with a domain name, not "{name}"',
  record_value: 'the value of the record',
  ttl: 'a TTL of at most {max} seconds',
  type: 'a type',
  type_needed: 'a type, because the value is not an address',
  record_type: 'a record type',
  rcode: 'an rcode such as NXDOMAIN or RCODE23, or NODATA',
  mail_server: 'a preference and a domain name, such as {example}',
  service_record: 'priority, weight, port and a domain name, such as {example}',
  txt: 'text of 1 to {max} bytes; strings in quotes of at most {length}',
  value_of_type: '{what} as the value of {type}',
  // Texts
  string: 'a string',
  filled_string: 'a string that is not empty',
  plain_string: 'a string without control characters',
  plain_name: 'a name without control characters and invisible ones',
  filled_name: 'a name that is not empty, without control characters and invisible ones',
  line_name: 'a name that is not empty, on one line, without characters that change the text direction',
  unicode: 'well-formed Unicode',
  no_controls: 'no control characters',
  one_line: 'one line',
  no_direction: 'no characters that change the text direction',
  no_invisible: 'no invisible characters, such as {example}',
  no_spaces: 'no spaces at the start or end',
  min_length: 'at least {min} characters',
  max_length: 'at most {max} characters',
  max_bytes: 'at most {max} bytes of UTF-8',
  user_name: 'ASCII letters and digits, with . _ @ + - only between them',
  token_key: '20 to 256 printable ASCII characters without spaces',
  random_key: 'a random key, without repetitions and sequences',
  wordless_key: 'a random key, without words',
  base64: 'Base64',
  argon2: 'an Argon2id hash that starts with $argon2id$',
  six_digits: 'six digits',
  other_password: 'a password other than the user name',
  rare_password: 'a password that is not among the most common ones; several words are a good choice',
  backup_secrets: 'the secrets of a backup',
  // Numbers, choices and lists
  integer: 'an integer',
  digits: 'an integer in decimal digits',
  whole_number: 'a whole number from {min} to {max}',
  number: 'a number',
  boolean: 'true or false',
  choice: '{choices} or {last}',
  value: 'a value (this key has no default)',
  list: 'a list',
  object: 'an object',
  strings: 'a list of strings',
  some_strings: 'a list of at least {min} string',
  max_rows: 'at most {max} rows',
  each_client: 'each client once',
  each_group: 'each group once',
  each_id: 'each id once',
  each_server: 'each server once',
  each_service: 'each service once',
  // Times
  date: 'YYYY-MM-DD',
  later_day: 'a day that is not earlier than from',
  time: 'a time',
  time_of_day: 'HH:MM from {first} to {end}',
  other_time: 'a time other than start_time; a whole day is 00:00 to 24:00',
  time_zone: 'the name of a time zone, such as {example}',
  any_time_zone: 'a time zone',
  soon: 'a time in the future, within a year',
  past_time: 'a time in the past',
  past_period: 'a period in the past',
  later_time: 'a time after from',
  // References to other objects, which may have been deleted
  existing_id: 'an existing id',
  client: 'the id of a client',
  existing_client: 'the id of an existing client',
  other_client: 'another client',
  group: 'the id of a group',
  existing_group: 'the id of an existing group',
  existing_groups: 'ids of existing groups',
  service: 'the id of a service',
  existing_service: 'the id of an existing service',
  existing_schedule: 'the id of an existing schedule profile',
  source: 'the id of a source',
  free_name: 'another name: the ids of similar names are taken',
  no_clients: 'none, because the role is not family',
  // Keys of the configuration that depend on other keys
  at_most_key: 'at most {key} ({max})',
  other_port: 'a port other than that of {key}',
  other_pool_name: 'a name that differs from those of other pools',
  companion: 'a value of {key} with it',
  block_address: 'an address in blocking.custom_ipv4 or custom_ipv6 with this mode',
  pair: 'a certificate and a key, or neither',
  wildcard_challenge: 'dns-01, which wildcard names require',
  challenge_server: 'the primary server of the zone, which dns-01 requires',
  anchors: 'DS and DNSKEY records only',
  // Files of a certificate
  certificate_file: 'a certificate in PEM (BEGIN CERTIFICATE)',
  key_file: 'a private key in PEM (BEGIN PRIVATE KEY)',
  one_key: 'one private key',
  file_each: 'one file each in cert and key',
  max_certificates: 'at most {max} certificates',
  found_key: 'a private key; are the certificate and the key swapped?',
  found_certificate: 'a certificate; are the certificate and the key swapped?',
  first_certificate: 'the certificate',
  later_certificate: 'certificate {number} of the chain',
  none: 'none',
  // Values that were found
  empty_list: 'an empty list',
  list_of: 'a list of {count}',
  table: 'a table',
  hidden: 'a value that is not shown',
  // Units
  answers_per_second: 'answers per second',
  answers: 'answers',
  bits: 'bits',
  bytes: 'bytes',
  connections: 'connections',
  days: 'days',
  hours: 'hours',
  logins: 'logins',
  microseconds: 'microseconds',
  milliseconds: 'milliseconds',
  probes: 'probes',
  questions_per_second: 'queries per second',
  questions: 'questions',
  seconds: 'seconds',
  threads: 'threads',
  // Combinations
  such_as: '{what} such as {example}',
  such_as_either: '{what} such as {example} or {other}',
  in_unit: '{what} ({unit})',
  or_empty: '{what}, or an empty string',
  ...ACME_FORMS,
} as const;

/** Whole messages. */
const LINES = {
  expected: 'expected {what}',
  expected_got: 'expected {what}, got {got}',
  // Values that do not match their schema
  missing: 'missing; expected {what}',
  unknown_field: 'unknown field',
  invalid: 'the value is not valid',
  expected_value: 'expected {last}',
  not_choice: 'expected one of {options}',
  empty_text: 'must not be empty',
  short_text: 'must have at least {min} characters',
  long_text: 'must have at most {max} characters',
  exact_text: 'must have exactly {count} characters',
  empty_items: 'must have at least 1 item',
  few_items: 'must have at least {min} items',
  many_items: 'must have at most {max} items',
  exact_items: 'must have exactly {count} items',
  small_number: 'must be at least {min}',
  large_number: 'must be at most {max}',
  same_as_row: 'is the same as in create.{row}',
  // Objects that already exist
  client_address_taken: 'a client with this address already exists',
  client_key_taken: 'a client with this key already exists',
  client_mac_taken: 'a client with this MAC already exists',
  client_taken: 'a client with {name} already exists',
  group_taken: 'a group named "{name}" already exists',
  local_record_taken: 'a local record with this name, type and value already exists',
  name_rule_taken: 'a managed domain with this domain, action and group already exists',
  pattern_rule_taken: 'a regex filter with this pattern, action and group already exists',
  name_row_taken: 'already has a managed domain with this action and group',
  pattern_row_taken: 'already has a regex filter with this action and group',
  schedule_taken: 'a schedule profile named "{name}" already exists',
  service_blocked: 'service {service} is already blocked for group {group}',
  service_taken: 'a custom service named "{name}" already exists',
  subnet_taken: 'subnet {network} already exists',
  token_key_taken: 'another API token has this key',
  user_reserved: 'this name is reserved by Weir',
  user_taken: 'a user named "{name}" already exists',
  zone_taken: 'a forward zone with this name already exists',
  max_grants:
    'the maximum of {max} grants, or of {services} grants for services, is reached; delete a grant ' +
    'first',
  max_tokens: 'there are already {max} API tokens; revoke one first',
  max_users: 'there are already {max} users; delete one first',
  // Objects whose state or use conflicts with the change
  alias_loop: 'the CNAME of {name} would create a loop of aliases',
  alias_not_alone:
    '{name} already has a record of type {type}; a CNAME must be the only record of its name (RFC 1034 section 3.6.2)',
  changed_since_read: 'the entity has changed since it was read; read it again',
  client_is_part: 'the client is part of client {main}; change that client, or split this one off',
  client_is_part_of: 'client {client} is part of client {main}; split it off first',
  client_not_part: 'the client is not part of another client',
  client_too_large: 'the device would consist of {count} other clients; at most {max} are allowed',
  client_without_key: 'client {client} has no key; set client_key first',
  default_group_deleted: 'the group Default cannot be deleted',
  default_group_disabled: 'the group Default cannot be disabled',
  expected_main_client: 'client {client} is part of client {main}; expected that one',
  group_in_use:
    'group {group} is in use; remove its clients, subnets, lists and rules first, or delete it with cascade=true',
  group_lists:
    '{names}: these lists are assigned only to group {group}, and would apply to all groups if the ' +
    'group were deleted; delete the lists, or assign them to another group first',
  head_not_newest: 'revision {head} is not the newest; a rollback would also undo: {revisions}',
  head_without_revisions: 'revision {head} does not exist; there are no revisions yet',
  head_unknown: 'revision {head} does not exist; the newest one is {newest}',
  held_copy_changed:
    '{kind}list source {source} has changed since it was read; check its current held update',
  held_copy_gone: 'the held update of {kind}list source {source} no longer exists; refresh the list',
  held_copy_reread:
    '{kind}list source {source} is interpreted differently than when its update was held; {reason}',
  list_not_held: '{kind}list source {source} has no held update',
  list_text_changed: 'the text of {kind}list source {source} has changed since it was read',
  node_running: 'node {node} is running, or was running within the last minute',
  revision_too_old: 'revision {revision} is too old: only the last {max} made by users can be rolled back to',
  revision_name_taken:
    'revision {revision} cannot be restored: another object has a name or URL of that revision',
  service_in_use: 'custom service {service} is blocked for groups {groups}; delete it with force',
  stored_unconfirmed:
    'the change is stored, but {count} DNS threads did not acknowledge it in time; Weir applies it as soon as it can',
  stored_unpublished:
    'the change is stored, but it could not be published; Weir applies it as soon as it can',
  too_large: 'the {part} must not exceed {max} bytes',
  part_too_large: '{part} must not be larger than {max} bytes',
  // The configuration
  config_by_environment: 'set by an environment variable of this node; change it there: {variables}',
  config_by_node:
    'is set by an environment variable of this node, or needs a configuration file, which this node ' +
    'does not have',
  config_faults: 'the configuration file has errors; correct them first: {faults}',
  config_form:
    'Weir cannot edit the configuration file {file}, because of its form; change the file with an ' +
    'editor',
  config_not_read: 'could not read the configuration file, so nothing was changed: {reason}',
  config_not_written: 'could not write the configuration file, so nothing was changed: {reason}',
  config_values: 'could not write these values to {file}',
  config_without_file:
    'Weir has no configuration file, in which the keys of this node are stored; create one and restart Weir',
  only_in_file: 'can only be changed in the configuration file',
  only_on_machine: 'can only be changed in the file, or with weir config set on the machine',
  password_by_environment:
    'the password cannot be changed here: auth.admin.password_hash is set by an environment variable, ' +
    'or the configuration file was changed after Weir read it; change the password there',
  // The second factor and certificates
  factor_disabled: 'the second factor is disabled',
  factor_enabled: 'the second factor is already enabled: disable it first',
  factor_not_waiting: 'no second factor is waiting for its first code: create one first',
  acme_names_empty: 'set server.acme.names first',
  acme_ordering: 'an order is in progress',
  certificate_curve: '{where} has a key on the curve {curve}; expected P-256, P-384 or P-521',
  certificate_early: 'the certificate is not valid before {time}',
  certificate_expired: 'the certificate expired at {time}',
  certificate_key_type: '{where} has a key of type {type}; expected RSA, EC or Ed25519',
  certificate_order: "{where} did not sign the previous one; the server's certificate must come first",
  certificate_signature: '{where} is signed with {algorithm}, whose signatures can be forged',
  certificate_unreadable: '{where} cannot be read',
  certificate_use: 'the certificate is not for servers (extended key usage)',
  certificate_valid: 'there is a valid certificate; force=true replaces it',
  key_encrypted: 'the key is encrypted; remove its passphrase first',
  key_long: '{where} has an RSA key of {bits} bits; the maximum is {max}',
  key_of_other: 'this key does not belong to the certificate',
  key_short: '{where} has an RSA key of {bits} bits; the minimum is {min}',
  key_unreadable: 'the private key cannot be read',
  openssl_refuses: 'OpenSSL refuses the certificate: {reason}',
  // Backups
  backup_newer:
    'made by a newer version of Weir: the backup has format {version}, this version reads up to {max}',
  secrets_newer: 'made by a newer version of Weir',
  passphrase_required: 'this backup has encrypted secrets: its passphrase is required',
  passphrase_wrong: 'wrong passphrase, or the secrets of this file are damaged',
  ...REFUSAL_LINES,
  ...UPLOAD_LINES,
  ...ACME_LINES,
  ...BACKUP_LINES,
} as const;

/** All messages and parts, in English. Other languages have the same codes. */
export const ENGLISH_FAULTS = { lines: LINES, forms: FORMS } as const;

export type LineCode = keyof typeof LINES;
export type FormCode = keyof typeof FORMS;

/** All messages and parts in one language. */
export interface FaultTexts {
  readonly lines: Readonly<Record<LineCode, string>>;
  readonly forms: Readonly<Record<FormCode, string>>;
}
