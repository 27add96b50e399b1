/** 48-bit MAC addresses as text. */

/**
 * Accepted forms: six pairs of hexadecimal digits with colons or hyphens, three groups of four with dots, or twelve
 * digits.
 */
const FORMS = [
  /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/,
  /^([0-9a-f]{2}-){5}[0-9a-f]{2}$/,
  /^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/,
  /^[0-9a-f]{12}$/,
];

/** A MAC as six pairs of lower-case digits with colons; null for other text. */
export function canonicalMac(text: string): string | null {
  const lower = text.toLowerCase();
  if (!FORMS.some((form) => form.test(lower))) return null;
  return macFromDigits(lower.replaceAll(/[:.-]/g, ''));
}

/** The text of a MAC of six bytes. */
export function macToText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

function macFromDigits(digits: string): string {
  return (digits.match(/../g) ?? []).join(':');
}

/** First word of a `macIdentity`, an address that ends with the six bytes of the MAC. */
export const MAC_IDENTITY_WORD = -1;

/**
 * An address that represents the device with a MAC (in the form of `canonicalMac`), regardless of the device's real
 * addresses. The result is a multicast address, which is never the sender of a query (RFC 4291 section 2.7).
 */
export function macIdentity(mac: string): string {
  const groups = mac.replaceAll(':', '').match(/.{4}/g) ?? [];
  return `ffff:ffff::${groups.join(':')}`;
}

/** The MAC in the last six of 16 bytes. */
export function macOfIdentity(bytes: Uint8Array): string {
  return macToText(bytes.subarray(10, 16));
}

/**
 * Whether the device chose the MAC itself, usually at random and per network (the locally administered bit is set, and
 * the group bit is not).
 */
export function isRandomMac(mac: string): boolean {
  return (parseInt(mac.slice(0, 2), 16) & 3) === 2;
}

/** Whether a MAC belongs to a group of interfaces, and therefore not to a device. */
export function isGroupMac(mac: string): boolean {
  return (parseInt(mac.slice(0, 2), 16) & 1) === 1;
}
