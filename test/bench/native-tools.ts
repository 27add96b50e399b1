// Builds the two C programs of `native/` in a cache folder, once per version of their source.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { locate } from './process/locate.ts';

const SOURCE_DIR = join(import.meta.dirname, 'native');
const PROGRAMS = {
  load: ['dns-load', 'dns-load.c', 'questions.c', 'histogram.c'],
  echo: ['dns-echo', 'dns-echo.c'],
} as const;

/** Full paths of the built programs. */
export interface NativeTools {
  load: string;
  echo: string;
}

/** Builds missing programs; undefined if there is no C compiler. Throws a compile error with its text. */
export function buildNativeTools(root: string): NativeTools | undefined {
  const compiler = locate('cc') ?? locate('gcc') ?? locate('clang');
  if (compiler === undefined) return undefined;
  const folder = join(root, 'node_modules', '.cache', 'weir', 'bench', sourceDigest());
  mkdirSync(folder, { recursive: true });
  return { load: build(compiler, folder, PROGRAMS.load), echo: build(compiler, folder, PROGRAMS.echo) };
}

function sourceDigest(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(SOURCE_DIR).sort()) hash.update(readFileSync(join(SOURCE_DIR, file)));
  return hash.digest('hex').slice(0, 16);
}

function build(compiler: string, folder: string, [name, ...sources]: readonly [string, ...string[]]): string {
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const unfinished = `${program}.${process.pid}`;
  const files = sources.map((file) => join(SOURCE_DIR, file));
  execFileSync(compiler, ['-O2', '-std=c11', '-Wall', '-Wextra', '-o', unfinished, ...files, '-lm']);
  renameSync(unfinished, program);
  return program;
}
