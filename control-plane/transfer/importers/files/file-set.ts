/** The files of an upload by path, and how a reader finds those it needs. */

/** Contents by path; paths are relative, with `/`, and never leave the upload. */
export type FileSet = ReadonlyMap<string, Buffer>;

/** Maximum total size of all files of an upload after unpacking. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Maximum number of files of an archive. */
export const MAX_FILES = 10_000;

/** The file at `path`, at the root or in the directory that was archived; undefined if there is none. */
export function fileAt(files: FileSet, path: string): Buffer | undefined {
  const found = pathOf(files, path);
  return found === undefined ? undefined : files.get(found);
}

/** The path of the file that `fileAt` returns. If several paths end with `path`, the shortest one. */
export function pathOf(files: FileSet, path: string): string | undefined {
  if (files.has(path)) return path;
  const found = [...files.keys()].filter((name) => name.endsWith(`/${path}`));
  return found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0];
}

/** The files directly in a directory, sorted by path; `ending` is the suffix of their names. */
export function filesIn(files: FileSet, folder: string, ending = ''): [path: string, content: Buffer][] {
  const isInside = (name: string): boolean => {
    const slash = name.lastIndexOf('/');
    const parent = slash < 0 ? '' : name.slice(0, slash);
    return (parent === folder || parent.endsWith(`/${folder}`)) && name.endsWith(ending);
  };
  return [...files].filter(([name]) => isInside(name)).sort(([a], [b]) => (a < b ? -1 : 1));
}
