/** Files that each page needs before it can be shown, read from Vite's manifest of a build. */

/** The part of an entry of Vite's manifest that is used here: a file, and the entries whose files it imports. */
interface ViteEntry {
  readonly file: string;
  readonly imports?: readonly string[];
}

/** Vite's manifest, `.vite/manifest.json` in the folder of a build. */
export type ViteManifest = Readonly<Record<string, ViteEntry>>;

/**
 * Beginnings of the keys of every page, in the order of the requests: the script that sends the first requests, the code
 * that shows the dashboard, and the styles of all pages.
 */
const COMMON = ['_entry-', 'src/start.tsx', 'style.css'];
/** Modules whose name differs from that of their page. */
const OTHER_NAMES: Readonly<Record<string, string>> = { setup: 'welcome' };

/**
 * Paths of the files by the name of the page, with the files of every page first. Contains only the files of every page
 * if no module has the page's name.
 */
export function pageFiles(manifest: ViteManifest, pages: readonly string[]): Record<string, string[]> {
  const modules = Object.keys(manifest);
  const common = COMMON.flatMap((start) => modules.find((key) => key.startsWith(start)) ?? []);
  const filesOf = (page: string): string[] => {
    const name = OTHER_NAMES[page] ?? page;
    const module = modules.find((key) => key.endsWith(`/${name}-page.tsx`));
    return module === undefined
      ? []
      : [...new Set([...common, module].flatMap((key) => filesBelow(manifest, key)))];
  };
  return Object.fromEntries(pages.map((page) => [page, filesOf(page)]));
}

/** Files of a module and of everything that it imports statically. */
function filesBelow(manifest: ViteManifest, module: string): string[] {
  const found = new Set([module]);
  // Iterating over a set also visits the elements that are added during the iteration.
  for (const key of found) for (const imported of manifest[key]?.imports ?? []) found.add(imported);
  return [...found].flatMap((key) => {
    const entry = manifest[key];
    return entry === undefined ? [] : [entry.file];
  });
}
