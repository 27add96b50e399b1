/**
 * The lines about orders for certificates by ACME that fail, by code, and parts of these lines. They are part of the
 * closed set of `fault-lines.ts`.
 */
import type { Params } from '../../../policy/reasons/text-params.ts';

export const ACME_LINES = {
  // Settings
  acme_names_missing: 'server.acme.names is empty; set it first',
  acme_server_missing: 'server.acme.dns_server is empty; set it first',
  acme_terms:
    'the terms of service are not accepted; read {url} and set server.acme.terms_agreed if you agree',
  acme_not_directory: 'server.acme.directory_url is not the directory of an ACME server',
  acme_ca_unreadable: 'could not read server.acme.directory_ca_path: {reason}',
  acme_key_unreadable: 'could not read the account key {path}: {reason}',
  acme_key_unwritten: 'could not write the account key {path}: {reason}',
  acme_key_wrong: '{path} is not a P-256 key; restore it from a copy, or move it away for a new account',
  acme_not_https: '"{url}" is not an https:// URL',
  acme_not_name: '"{name}" is not a domain name',
  // Account and order
  acme_other_node: 'another node is ordering a certificate; wait until it is done',
  acme_unreachable: '{host} cannot be reached: {reason}',
  acme_reported: 'the server reports: {text}',
  acme_name_reported: '{name}: the server reports: {text}',
  acme_directory_status: 'read the directory failed with status {status}',
  acme_request_status: 'the request failed with status {status}',
  acme_not_json: 'the response of the server is not JSON',
  acme_without_account: 'the server gave no URL for the account',
  acme_without_nonce: 'the server gave no nonce',
  acme_external_account: 'the server requires an external account, which Weir does not support',
  acme_without_proofs: 'the order of the server has no authorizations',
  acme_without_url: 'the order of the server has no {key} URL',
  acme_not_offered: '{name}: the server does not offer {challenge}',
  acme_not_authorized: '{name}: the authorization is {status}',
  acme_refused: 'the server refused the order',
  acme_undecided: 'the server did not decide within {minutes} minutes',
  acme_other_names: 'the certificate is not for {names}',
  // HTTP-01
  acme_port: 'port {port} cannot be opened on any address',
  acme_listen:
    'could not listen on {address} port {port}: {reason}; free the port, or set server.acme.http_port',
  // DNS-01
  acme_tsig_unreadable: 'could not read server.acme.tsig_key_file: {reason}',
  acme_tsig_secret: 'server.acme.tsig_key_file must contain the secret in base64, on one line',
  acme_dns: 'could not query {server}: {reason}',
  acme_no_zone: '{server} has no zone for {name} (rcode {rcode})',
  acme_reply: '{server} answered the update of {zone}, but {why}',
  acme_update: '{server} refused the update of {zone}: {why}',
  acme_long_proof: 'the challenge response is longer than a TXT string',
} as const;

/** Why a DNS server did not update a zone, or why its reply does not count: the parameter `{why}`. */
export const ACME_FORMS = {
  tsig_unsigned: 'it is not signed',
  tsig_damaged: 'its signature is damaged',
  tsig_algorithm: 'its signature has another algorithm',
  tsig_wrong: 'its signature is wrong',
  tsig_time: 'its time differs too much from the clock of this machine',
  update_unparsed: 'it could not parse the update (FORMERR)',
  update_unsupported: 'it does not support updates',
  update_not_allowed: 'it does not allow this key to update the zone',
  update_unknown_key: 'it does not know the TSIG key, the key is wrong, or the clocks differ (NOTAUTH)',
  update_outside: 'the name is not in the zone (NOTZONE)',
  update_rcode: 'rcode {number}',
} as const;

/** Code of a failed order. */
export type AcmeCode = keyof typeof ACME_LINES;
/** Parameters of its line. */
export type AcmeParams<Code extends AcmeCode> = Params<(typeof ACME_LINES)[Code], string | number>;
