/** Extended errors of an upstream's reply (RFC 8914), as far as they report a block. */
import { findOption, OPTION_HEAD_SIZE, optionEnd } from '../../../shared/dns/edns-option.ts';
import { EdnsOption, ExtendedError } from '../../../shared/dns/iana.ts';
import { readU16 } from '../../../shared/dns/wire.ts';

/**
 * The extended error that clients are told for a reply whose options lie between `at` and `end`; undefined if it
 * reports no block. Clients attribute an error to Weir itself (section 3), and 15 (Blocked) means Weir's operator, so
 * an upstream's 15 becomes 16 (Censored). Texts are dropped.
 */
export function blockSaidBy(message: Uint8Array, at: number, end: number): number | undefined {
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
