/**
 * A second decoder of header blocks that follows RFC 7541 as simply as possible: bits as text, the tables as one list,
 * no limits. The real decoder is compared with this decoder; they share only the Huffman code.
 */
import { decodedSizeLimit, decodeHuffman } from '../../dns-worker/streams/h2/huffman.ts';

type Field = readonly [name: string, value: string];

/** RFC 7541 appendix A. */
const STATIC: readonly Field[] = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .split('\n')
  .map((line) => {
    const [name = '', ...value] = line.split(' ');
    return [name, value.join(' ')];
  });
const MAX_TABLE_SIZE = 4096;
/** An integer has at most four bytes after its prefix, as in the real decoder. */
const MAX_SHIFT = 28;

/** Decodes the blocks of one connection. */
export class PlainHpack {
  private added: Field[] = [];
  private limit = MAX_TABLE_SIZE;
  private left: number[] = [];

  /** Every field of the block; null if it is malformed. */
  decode(block: Uint8Array): Field[] | null {
    this.left = [...block];
    const fields: Field[] = [];
    try {
      while (this.left.length > 0) this.one(fields);
      return fields;
    } catch {
      return null;
    }
  }

  private one(fields: Field[]): void {
    const bits = this.left[0]!.toString(2).padStart(8, '0');
    if (bits.startsWith('1')) fields.push(this.entry(this.integer(7)));
    else if (bits.startsWith('01')) {
      const field = this.literal(6);
      this.added.unshift(field);
      this.evict();
      fields.push(field);
    } else if (bits.startsWith('001')) {
      const limit = this.integer(5);
      if (fields.length > 0 || limit > MAX_TABLE_SIZE) throw new Error('size');
      this.limit = limit;
      this.evict();
    } else fields.push(this.literal(4));
  }

  private evict(): void {
    const size = (): number =>
      this.added.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
    while (size() > this.limit) this.added.pop();
  }

  private literal(prefix: number): Field {
    const index = this.integer(prefix);
    return [index === 0 ? this.string() : this.entry(index)[0], this.string()];
  }

  private entry(index: number): Field {
    const found = [...STATIC, ...this.added][index - 1];
    if (found === undefined) throw new Error('index');
    return found;
  }

  private integer(prefix: number): number {
    const mask = 2 ** prefix - 1;
    let value = this.octet() % 2 ** prefix;
    if (value < mask) return value;
    for (let shift = 0; shift < MAX_SHIFT; shift += 7) {
      const octet = this.octet();
      value += (octet % 128) * 2 ** shift;
      if (octet < 128) return value;
    }
    throw new Error('integer');
  }

  private string(): string {
    const isCoded = (this.left[0] ?? 0) >= 128;
    const length = this.integer(7);
    if (length > this.left.length) throw new Error('string');
    const octets = Uint8Array.from(this.left.splice(0, length));
    if (!isCoded) return Buffer.from(octets).toString('latin1');
    const decoded = new Uint8Array(decodedSizeLimit(length));
    const size = decodeHuffman(octets, 0, length, decoded);
    if (size < 0) throw new Error('code');
    return Buffer.from(decoded.subarray(0, size)).toString('latin1');
  }

  private octet(): number {
    const octet = this.left.shift();
    if (octet === undefined) throw new Error('end');
    return octet;
  }
}
