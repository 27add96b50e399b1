/** Reads the binary files of a Technitium DNS Server, with bounds checks. Pure. */
import { importFault } from '../files/import-fault.ts';
import type { ImportFault } from '../files/import-fault.ts';

/** A position in a file. */
export class ByteReader {
  private readonly name: string;
  private readonly content: Buffer;
  private at = 0;

  /** `name` is the name of the file in errors. */
  constructor(name: string, content: Buffer) {
    this.name = name;
    this.content = content;
  }

  /** The version of a file that begins with `magic`; throws an ImportFault for other files. */
  head(magic: string, newest: number): number {
    const found = this.octets(magic.length).toString('latin1');
    if (found !== magic) throw importFault('not_technitium_file', { file: this.name });
    const version = this.octet();
    if (version < 1 || version > newest)
      throw importFault('file_version', { file: this.name, version, max: newest });
    return version;
  }

  octet(): number {
    return this.octets(1)[0]!;
  }

  /** A 32-bit integer, little-endian. */
  integer(): number {
    return this.octets(4).readInt32LE();
  }

  /** A string that is preceded by a length byte. */
  text(): string {
    return this.octets(this.octet()).toString('utf8');
  }

  /** Reads `count` strings. */
  texts(count: number): string[] {
    // Each string takes at least one byte, so a forged count is detected before memory is allocated.
    if (count < 0 || count > this.content.length - this.at) throw this.cutOff();
    return Array.from({ length: count }, () => this.text());
  }

  private octets(count: number): Buffer {
    const end = this.at + count;
    if (end > this.content.length) throw this.cutOff();
    const read = this.content.subarray(this.at, end);
    this.at = end;
    return read;
  }

  private cutOff(): ImportFault {
    return importFault('file_short', { file: this.name });
  }
}
