/** Random keys for devices. */

/** Letters and digits that look different from each other; as many as five bits can select. */
const CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 16;

/** A key of 80 random bits. Keys with less than 64 are refused outside the allowed networks. */
export function newClientKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  return Array.from(bytes, (byte) => CHARACTERS[byte % CHARACTERS.length]!).join('');
}
