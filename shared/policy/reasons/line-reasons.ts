/**
 * Reasons why a line of a list, a custom rule or a regular expression cannot be used. Each has a code and an English
 * text; the API, logs and the command line show the English text. The dashboard has the other languages, in
 * `i18n/reasons/`.
 */
import type { Params } from './text-params.ts';
import { type CodedReason, ReasonTexts } from './reason-texts.ts';

/**
 * English texts that fit into the middle of a sentence; `{name}` is a parameter, `{reason}` the text of another reason.
 */
export const LINE_REASONS = {
  // Reasons for lines of any syntax.
  cosmetic: 'cosmetic rule',
  line_too_long: 'longer than 64 KiB',
  rule_too_long: 'longer than {bytes} bytes, so not a rule',
  not_a_rule: 'not a rule',
  not_a_name: 'not a domain name',
  single_word: 'a single word is not a domain name',
  url: 'URL or path: a DNS server sees only names',
  url_regex: 'regular expression for whole URLs',
  unsupported_modifier: 'modifier is not supported',
  unsupported_pattern: 'pattern is not supported',
  zone_syntax: 'zone file syntax is not supported',
  every_name_not_accepted: 'a rule for every name is not accepted',
  every_address_not_accepted: 'a rule for every address is not accepted',

  // Reasons for addresses.
  address: 'an address, not a name',
  blocking_address: 'an address that means "block": it cannot be matched in answers',
  no_network: 'neither an address nor a prefix',
  hosts_address: 'hosts line with a real address: does not block',
  real_answer: 'an answer with a real address: does not block',

  // Lines of other servers' configuration files.
  forwarding: 'forwarding to a server: does not block',
  other_option: 'an option that blocks nothing',
  open_zone: 'a zone that is answered as usual: does not block',
  other_data: 'data of a type that blocks nothing',
  view_option: 'an option of a view, which is for some clients only',

  // Reasons for lines of response policy zones.
  rpz_address: 'neither an address nor a prefix in the form of rpz-ip records',
  rpz_rewrite: 'RPZ rewriting is not supported',
  rpz_trigger: 'RPZ trigger other than a name or an address in the answer',
  outside_zone: 'a name outside the zone',

  // Reasons why a pattern is rejected.
  short_pattern: 'pattern too short: it would match almost everything',
  anchor_inside: 'an anchor inside a pattern: no name can match',
  foreign_characters: 'a pattern with characters that no name contains',
  every_name: 'it matches every name',
  every_name_star: 'it matches every name; if that is meant, write *',
  every_name_regex: 'it matches every name; if that is meant, write .*',
  no_name:
    'it cannot match any name: names have no slash and no colon, and letters other than ASCII are written as xn--',

  // Reasons why a modifier is rejected.
  modifier: 'modifier is not supported: {modifier}',
  dnstype: '$dnstype with an unknown type: {type}',
  denyallow: '$denyallow with a value that is not a domain name',
  client_address: '$client with a value that is not an address or a network: {client}',
  client_name: '$client with a value that is not a name: {client}',
  client_count: '$client with more than {count} names in one list',
  rewrite_code: '$dnsrewrite with an unknown response code: {code}',
  rewrite_value: '$dnsrewrite to a value that is not a response code, an address or a host name',
  rewrite_text: '$dnsrewrite to a TXT record of more than {bytes} bytes',
  rewrite_type: '$dnsrewrite to a record of this type is not supported: {type}',
  rewrite_data: '$dnsrewrite with data that is not valid for type {type}',

  // Options of a regex filter.
  invert: 'the option ;invert is not supported: deny all other names with .* and allow these',
  regex_option: 'unknown option ";{option}": Weir has ;querytype= and ;reply=',
  query_type: ';querytype= with an unknown type: "{type}"',
  reply_count: 'at most one ;reply= is allowed; use another filter for another reply',
  reply_value: ';reply= must be an address, NODATA, NXDOMAIN or REFUSED, not "{value}"',

  // Exceeded limits.
  list_patterns: 'too many patterns in one list',
  all_patterns: 'too many patterns in all lists together',
  exceptions: 'too many exceptions in one list',
  conditions: 'too many rules with conditions for one name',
  regexes_of_names:
    'too many regular expressions that every name must be matched against, because they contain no fixed text',
  regexes_of_addresses: 'too many regular expressions that every address must be matched against',
  compile_time: 'earlier regular expressions have used up the time for compiling',
  compile_memory: 'earlier regular expressions have used up the memory',

  // Reasons why a pattern cannot be compiled.
  in_regex: 'regular expression: {reason}',
  in_pattern: 'pattern: {reason}',
  not_linear: 'not a linear-time regular expression: {reason}',
  with_filters: '`{pattern}` cannot be used with the other enabled filters: {reason}',
  with_existing: 'cannot be used together with the existing filters: {reason}',
  empty: 'the pattern is empty',
  too_long: 'the pattern is longer than {count} characters',
  too_large: 'the pattern is too large: its repetitions multiply',
  too_slow: 'the pattern takes too long to compile',
  too_many_states:
    'the pattern needs an automaton of more than {count} states: a repeated part overlaps with the part before it',

  // Syntax errors, in the words of re2js.
  syntax_range: 'error parsing regexp: invalid character class range: `{text}`',
  syntax_escape: 'error parsing regexp: invalid escape sequence: `{text}`',
  syntax_capture: 'error parsing regexp: invalid named capture: `{text}`',
  syntax_perl: 'error parsing regexp: invalid or unsupported Perl syntax: `{text}`',
  syntax_nested_repeat: 'error parsing regexp: invalid nested repetition operator: `{text}`',
  syntax_repeat: 'error parsing regexp: invalid repeat count: `{text}`',
  syntax_bracket: 'error parsing regexp: missing closing ]: `{text}`',
  syntax_open: 'error parsing regexp: missing closing ): `{text}`',
  syntax_closed: 'error parsing regexp: unexpected ): `{text}`',
  syntax_argument: 'error parsing regexp: missing argument to repetition operator: `{text}`',
  syntax_duplicate: 'error parsing regexp: duplicate capture group name: `{text}`',
  syntax_backslash: 'error parsing regexp: trailing backslash at end of expression',
  syntax_depth: 'error parsing regexp: expression nests too deeply',
  syntax_large: 'error parsing regexp: expression too large',
} as const;

export type LineReasonCode = keyof typeof LINE_REASONS;

declare const MARK: unique symbol;
/** The English text of a reason with a code. The mark makes the compiler reject any string that is not such a text. */
export type LineReason = string & { readonly [MARK]: true };

const texts = new ReasonTexts<typeof LINE_REASONS>(LINE_REASONS);

export function lineReason<Code extends LineReasonCode>(
  code: Code,
  ...[params]: Params<(typeof LINE_REASONS)[Code], string | number>
): LineReason {
  return texts.say(code, params) as LineReason;
}

/** The message of a library; it has a code only if it is listed above. */
export function libraryReason(message: string): LineReason {
  return message as LineReason;
}

/** Code and parameters of a reason; null for other text. */
export function readLineReason(text: string): CodedReason<LineReasonCode> | null {
  return texts.read(text);
}
