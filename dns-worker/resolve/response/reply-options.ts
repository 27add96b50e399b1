/**
 * Options of an upstream's reply: the client subnet (RFC 7871 section 7.3), and errors for blocked names (RFC 8914).
 */
import { EcsData, longestPrefix } from '../../../shared/dns/ecs-option.ts';
import {
  BROKEN_OPTIONS,
  findOption,
  NO_OPTION,
  OPTION_HEAD_SIZE,
  optionEnd,
} from '../../../shared/dns/edns-option.ts';
import { EdnsOption, ExtendedError } from '../../../shared/dns/iana.ts';
import { readU16 } from '../../../shared/dns/wire.ts';

/** Result for a reply that is for a subnet other than the requested one. */
export const OTHER_ECS = -1;

/**
 * Scope prefix length of a reply whose options are between `at` and `end`: 0 without an ECS option (the reply is valid
 * for all clients), `OTHER_ECS` if family, source prefix or address differ from `asked`, or if the option is malformed.
 */
export function ecsScopeOf(message: Uint8Array, at: number, end: number, asked: Uint8Array): number {
  // If the question has no subnet, a server may return the subnet that it used.
  if (asked[EcsData.SOURCE] === 0) return 0;
  const option = findOption(message, at, end, EdnsOption.ECS);
  if (option === NO_OPTION) return 0;
  if (option === BROKEN_OPTIONS) return OTHER_ECS;
  const dataAt = option + OPTION_HEAD_SIZE;
  if (optionEnd(message, option) - dataAt !== asked.length) return OTHER_ECS;
  for (let i = 0; i < asked.length; i++)
    if (i !== EcsData.SCOPE && message[dataAt + i] !== asked[i]) return OTHER_ECS;
  const scope = message[dataAt + EcsData.SCOPE]!;
  return scope <= longestPrefix(readU16(asked, EcsData.FAMILY)) ? scope : OTHER_ECS;
}

/**
 * The extended error for the client of a reply whose options are between `at` and `end`; undefined if it does not
 * report a block. Clients attribute an error to Weir itself (section 3), and 15 (Blocked) would mean that Weir's
 * operator blocks the name, so an upstream's 15 becomes 16 (Censored). Texts are dropped.
 */
export function blockErrorOf(message: Uint8Array, at: number, end: number): number | undefined {
  let from = at;
  for (;;) {
    const option = findOption(message, from, end, EdnsOption.EDE);
    if (option < 0) return undefined;
    from = optionEnd(message, option);
    if (from - option < OPTION_HEAD_SIZE + 2) continue;
    const code = readU16(message, option + OPTION_HEAD_SIZE);
    if (code === ExtendedError.BLOCKED || code === ExtendedError.CENSORED) return ExtendedError.CENSORED;
    if (code === ExtendedError.FILTERED || code === ExtendedError.PROHIBITED) return code;
  }
}
