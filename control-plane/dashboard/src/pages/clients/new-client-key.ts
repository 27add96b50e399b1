/** Random keys for devices. */

/** The 32 letters and digits that look most different from each other, so five bits select one of them. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 16;

/** A key of 80 random bits. Outside the allowed networks, keys with less than 64 bits are refused. */
export function newClientKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]!).join('');
}
