/** Reads a known number of bytes, and detects a file that ends early. */
import type { FileHandle } from 'node:fs/promises';

/**
 * Number of bytes per read. Small, because while the kernel fills new memory, no other thread can use the core (17 MB
 * took 47 ms).
 */
const READ_BYTES = 64 * 1024;

/** Fills `bytes` from offset `from` of the file; false if the file ends too early. */
export async function readFully(file: FileHandle, bytes: Uint8Array, from: number): Promise<boolean> {
  for (let at = 0; at < bytes.length;) {
    const length = Math.min(READ_BYTES, bytes.length - at);
    const { bytesRead } = await file.read(bytes, at, length, from + at);
    if (bytesRead === 0) return false;
    at += bytesRead;
  }
  return true;
}
