/** Passes bytes to another process in an anonymous file (memfd_create(2)). */
import { fstatSync, readSync, writeSync } from 'node:fs';
import type { DescriptorCalls } from './descriptor-calls.ts';

const MFD_CLOEXEC = 1;

/** Creates a file with these bytes; returns its descriptor, which the caller must close. */
export function memoryFile(
  calls: Pick<DescriptorCalls, 'memfd_create' | 'errno'>,
  bytes: Uint8Array,
): number {
  const fd = calls.memfd_create('weir', MFD_CLOEXEC);
  if (fd < 0) throw new Error(`could not create a file in memory: errno ${String(calls.errno())}`);
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
  return fd;
}

/**
 * All bytes of an anonymous file, which may be fewer than intended if the other process has stopped writing; null for
 * another kind of descriptor.
 */
export function readMemoryFile(fd: number): Buffer | null {
  const status = fstatSync(fd);
  if (!status.isFile()) return null;
  const bytes = Buffer.alloc(status.size);
  let at = 0;
  while (at < bytes.length) {
    const count = readSync(fd, bytes, at, bytes.length - at, at);
    if (count === 0) return null;
    at += count;
  }
  return bytes;
}
