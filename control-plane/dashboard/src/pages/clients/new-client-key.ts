/** Random client keys for devices. */

/** The 32 letters and digits that are easiest to tell apart; five bits select one of them. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 16;

/** A key of 80 random bits. Keys with less than 64 bits are not accepted outside the allowed networks. */
export function newClientKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]!).join('');
}
