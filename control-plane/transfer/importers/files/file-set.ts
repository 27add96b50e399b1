/** The files of an upload, by their paths, and how a reader finds those that it knows. */

/** Contents by path; paths are relative, with `/`, and never lead out. */
export type FileSet = ReadonlyMap<string, Buffer>;

/** Maximum number of bytes that all files of an upload may have together when they are unpacked. */
export const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;
/** Maximum number of files of an archive. */
export const MAX_FILES = 10_000;

/** The file at `path`, at the root or in the folder that the archive was made of; undefined if there is none. */
export function fileAt(files: FileSet, path: string): Buffer | undefined {
  const found = pathOf(files, path);
  return found === undefined ? undefined : files.get(found);
}

/** Where `fileAt` finds it: of several paths that end like that, the shortest. */
export function pathOf(files: FileSet, path: string): string | undefined {
  if (files.has(path)) return path;
  const found = [...files.keys()].filter((name) => name.endsWith(`/${path}`));
  return found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0];
}

/** The files right in a folder, by path in order; `ending` is how their names end. */
export function filesIn(files: FileSet, folder: string, ending = ''): [path: string, content: Buffer][] {
  const isInside = (name: string): boolean => {
    const slash = name.lastIndexOf('/');
    const parent = slash < 0 ? '' : name.slice(0, slash);
    return (parent === folder || parent.endsWith(`/${folder}`)) && name.endsWith(ending);
  };
  return [...files].filter(([name]) => isInside(name)).sort(([a], [b]) => (a < b ? -1 : 1));
}
