/** Archives and databases in the formats that other programs export, some damaged, generated in memory. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32, deflateRawSync } from 'node:zlib';

/** File contents by path. */
export type MadeFiles = Readonly<Record<string, string | Buffer>>;

/** How a zip stores an entry. */
interface ZipOptions {
  /** Unix attributes, shifted to their position in a zip. */
  readonly mode?: number;
  /** Size of the entry according to the directory of the zip. */
  readonly claimedBytes?: number;
}

/** A zip with deflated entries. */
export function zipOf(files: MadeFiles, options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const name = Buffer.from(path);
    const sizes = Buffer.alloc(12);
    sizes.writeUInt32LE(crc32(bytes), 0);
    sizes.writeUInt32LE(packed.length, 4);
    sizes.writeUInt32LE(options.claimedBytes ?? bytes.length, 8);
    const common = Buffer.concat([
      Buffer.from([20, 0, 0, 8, 8, 0, 0, 0, 0x21, 0x5a]),
      sizes,
      word(name.length),
      word(0),
    ]);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, name, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(((options.mode ?? 0o100_644) << 16) >>> 0, 6);
    place.writeUInt32LE(at, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0003'), common, place, name);
    parts.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  const count = Object.keys(files).length;
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, central, end]);
}

/** A tar; `type` is the type flag of its entries, `0` for regular files. */
export function tarOf(files: MadeFiles, type = '0'): Buffer {
  const blocks = Object.entries(files).map(([path, content]) => {
    const bytes = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write('0000644\0', 100);
    header.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write(`        ${type}`, 148);
    header.write('ustar\u000000', 257);
    if (type === '2') header.write('/etc/passwd', 157);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A SQLite database created by these statements. */
export function sqliteOf(statements: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'weir-sqlite-'));
  try {
    const path = join(folder, 'made.db');
    const database = new DatabaseSync(path);
    database.exec(statements);
    database.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function word(value: number): Buffer {
  return Buffer.from([value & 0xff, value >>> 8]);
}
