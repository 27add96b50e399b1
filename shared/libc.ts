/**
 * Functions of the C library for which Node.js has no binding, called through koffi; only this file loads koffi. Each
 * caller names the functions that it needs, and works without them if they are unavailable.
 */
import { createRequire } from 'node:module';
import { reasonOf } from './errors.ts';

/** Part of koffi that Weir uses. */
interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): unknown };
  errno(): number;
  address(buffer: ArrayBufferView): bigint;
}

/** Functions that every caller gets in addition to those that it names. */
export interface Libc {
  /** Error number of the last call of this thread. */
  errno(): number;
  /** Address of a buffer's bytes; valid as long as the buffer exists (V8 does not move backing stores). */
  address(buffer: ArrayBufferView): bigint;
}

/** Result and parameters of each function, in the notation of koffi. */
export type Signatures<Calls> = Readonly<
  Record<Exclude<keyof Calls, keyof Libc>, readonly [result: string, parameters: readonly string[]]>
>;

/** Finds the functions; if one is unavailable (no prebuilt koffi, another C library), returns the reason. */
export function loadLibc<Calls>(
  signatures: Signatures<Calls>,
): { readonly calls: Calls & Libc } | { readonly reason: string } {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    const libc = koffi.load(null);
    const found = Object.entries<Signatures<Calls>[keyof Signatures<Calls>]>(signatures).map(
      ([name, [result, parameters]]) => [name, libc.func(name, result, parameters)] as const,
    );
    const calls = {
      ...(Object.fromEntries(found) as Calls),
      errno: () => koffi.errno(),
      address: (buffer: ArrayBufferView) => koffi.address(buffer),
    };
    return { calls };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/**
 * Reason why kernel structures that are laid out for 64-bit little-endian Linux do not fit this machine; undefined if
 * they fit.
 */
export function layoutMismatch(): string | undefined {
  const { platform, arch } = process;
  return platform === 'linux' && (arch === 'x64' || arch === 'arm64')
    ? undefined
    : `structures are not laid out for ${platform} on ${arch}`;
}
