/** Parts of DNS messages as bytes. */
import { nameFromText } from '../../../shared/dns/name.ts';
import { acmeFault } from './acme-http.ts';

/** @throws {AcmeFault} for a text that is not a domain name */
export function wireName(text: string): Buffer {
  const wire = nameFromText(text);
  if (wire === null) throw acmeFault('acme_not_name', { name: text });
  return Buffer.from(wire);
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
