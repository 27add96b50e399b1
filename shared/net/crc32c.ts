/** CRC-32C (Castagnoli), the checksum of RFC 3720 appendix B.4, bits reflected. */

const POLYNOMIAL = 0x82f63b78;
const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/** The checksum of these bytes, as a u32. */
export function crc32c(bytes: Uint8Array): number {
  let rest = -1;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255]! ^ (rest >>> 8);
  return ~rest >>> 0;
}
