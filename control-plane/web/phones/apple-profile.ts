/** Configuration profiles that set up encrypted DNS on Apple devices: property lists in XML. Pure. */
import { createHash } from 'node:crypto';

/** Encrypted DNS of one device. */
export type ProfileTarget =
  { readonly protocol: 'https'; readonly url: string } | { readonly protocol: 'tls'; readonly name: string };

/**
 * The profile for a device; the same target gets the same identifiers, so that a new profile replaces the earlier one
 * on the device.
 */
export function appleProfile(target: ProfileTarget, deviceName: string): string {
  const server = target.protocol === 'https' ? target.url : target.name;
  const host = target.protocol === 'https' ? new URL(target.url).host : target.name;
  const settings =
    target.protocol === 'https'
      ? { DNSProtocol: 'HTTPS', ServerURL: server }
      : { DNSProtocol: 'TLS', ServerName: server };
  const inner = uuidOf(`dns ${server}`);
  const outer = uuidOf(`profile ${server}`);
  const payload = {
    PayloadType: 'com.apple.dnsSettings.managed',
    PayloadVersion: 1,
    PayloadIdentifier: `weir.dns.${inner}`,
    PayloadUUID: inner,
    PayloadDisplayName: `Encrypted DNS: ${host}`,
    DNSSettings: settings,
  };
  const profile = {
    PayloadType: 'Configuration',
    PayloadVersion: 1,
    PayloadIdentifier: `weir.profile.${outer}`,
    PayloadUUID: outer,
    PayloadDisplayName: `Weir: ${deviceName}`,
    PayloadDescription: `Uses ${host} for DNS in all networks.`,
    PayloadContent: [payload],
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<plist version="1.0">${element(profile)}</plist>`,
    '',
  ].join('\n');
}

type Value = string | number | readonly Value[] | { readonly [key: string]: Value };

function element(value: Value): string {
  if (typeof value === 'string') return `<string>${escaped(value)}</string>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (Array.isArray(value)) return `<array>${value.map(element).join('')}</array>`;
  const entries = Object.entries(value).map(([key, one]) => `<key>${escaped(key)}</key>${element(one)}`);
  return `<dict>${entries.join('')}</dict>`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** Characters that XML 1.0 cannot contain, even as references. */
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(NOT_XML, '\ufffd')
    .replaceAll(/[&<>]/g, (character) => ESCAPES[character]!);
}

/** A UUID of version 8 (RFC 9562) from a hash. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(`weir ${text}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex').toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
