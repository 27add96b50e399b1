/** PROXY protocol v2 headers as load balancers write them. */
import { crc32c } from '../../../shared/net/proxy-header.ts';
import { addressFromText } from '../../../shared/net/ip.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';

/** A header with these hexadecimal digits after the signature and the correct length. */
export function headerOf(command: string, family: string, rest: string, length = rest.length / 2): Buffer {
  return Buffer.from(SIGNATURE + command + family + length.toString(16).padStart(4, '0') + rest, 'hex');
}

/** A TLV value after the addresses. */
export const tlv = (type: string, value: string): string =>
  type + (value.length / 2).toString(16).padStart(4, '0') + value;

/** The header of a client over TCP, with more values after its addresses. */
export function headerFor(client: string, port = 4660, values = ''): Buffer {
  const bytes = Buffer.from(addressFromText(client)!);
  const isIpv4 = !client.includes(':');
  const address = (isIpv4 ? bytes.subarray(12) : bytes).toString('hex');
  const ports = port.toString(16).padStart(4, '0') + '0035';
  return headerOf('21', isIpv4 ? '11' : '21', address + address + ports + values);
}

/** A header with its checksum, or with a checksum in which some bits are flipped. */
export function checkedHeaderFor(client: string, flipped = 0): Buffer {
  const values = tlv('03', '00000000') + tlv('02', '6162');
  const bytes = headerFor(client, 4660, values);
  bytes.writeUInt32BE((crc32c(bytes) ^ flipped) >>> 0, bytes.length - values.length / 2 + 3);
  return bytes;
}

/** Header of a connection for a health check of the load balancer itself. */
export const LOCAL_HEADER = headerOf('20', '00', '');
