/** The client subnet option of an upstream's reply (RFC 7871 section 7.3). */
import { ClientSubnet, longestPrefix } from '../../../shared/dns/ecs-option.ts';
import {
  BROKEN_OPTIONS,
  findOption,
  NO_OPTION,
  OPTION_HEAD_SIZE,
  optionEnd,
} from '../../../shared/dns/edns-option.ts';
import { EdnsOption } from '../../../shared/dns/iana.ts';
import { readU16 } from '../../../shared/dns/wire.ts';

/** The reply is for another subnet than was asked for. */
export const OTHER_SUBNET = -1;

/**
 * Scope prefix of a reply whose options lie between `at` and `end`: 0 where it names none (it fits everybody),
 * `OTHER_SUBNET` where family, source prefix or address are not those of `asked`, or the option is malformed.
 */
export function scopeOfReply(message: Uint8Array, at: number, end: number, asked: Uint8Array): number {
  // To a question that told no subnet, a server may name the one that it took instead.
  if (asked[ClientSubnet.SOURCE] === 0) return 0;
  const option = findOption(message, at, end, EdnsOption.CLIENT_SUBNET);
  if (option === NO_OPTION) return 0;
  if (option === BROKEN_OPTIONS) return OTHER_SUBNET;
  const dataAt = option + OPTION_HEAD_SIZE;
  if (optionEnd(message, option) - dataAt !== asked.length) return OTHER_SUBNET;
  for (let i = 0; i < asked.length; i++)
    if (i !== ClientSubnet.SCOPE && message[dataAt + i] !== asked[i]) return OTHER_SUBNET;
  const scope = message[dataAt + ClientSubnet.SCOPE]!;
  return scope <= longestPrefix(readU16(asked, ClientSubnet.FAMILY)) ? scope : OTHER_SUBNET;
}
