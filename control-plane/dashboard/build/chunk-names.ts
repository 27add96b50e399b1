/** Assigns modules to shared files, so that a page needs fewer requests: a browser sends only six at a time. */
import { join } from 'node:path';

/** The part of the bundler's API that is used here. */
interface Modules {
  getModuleInfo(id: string): {
    readonly importedIds: readonly string[];
    readonly dynamicallyImportedIds: readonly string[];
  } | null;
}

const SRC = join(import.meta.dirname, '..', 'src');
const START = join(SRC, 'start.tsx');
const PAGES = join(SRC, 'frame', 'pages.ts');

/** Returns the name of a module's file, or null to leave the module to the next function. */
type NameFile = (id: string, modules: Modules) => string | null;

/**
 * The files of modules that several pages need, in the order in which modules are assigned to them: modules of every
 * page, modules that the most used pages share with others, and modules that other pages share.
 */
export const SHARED_FILES: readonly NameFile[] = [
  (id, modules) => (id !== START && neededBy(START, modules).has(id) ? 'first' : null),
  sharedWith('overview', 'overview-page.tsx', 'widgets'),
  sharedWith('queries', 'queries-page.tsx', 'fields'),
  (id, modules) => {
    const pages = modules.getModuleInfo(PAGES)?.dynamicallyImportedIds ?? [];
    return pages.filter((page) => neededBy(page, modules).has(id)).length > 1 ? 'forms' : null;
  },
];

function sharedWith(folder: string, page: string, file: string): NameFile {
  const path = join(SRC, 'pages', folder);
  return (id, modules) => (!id.startsWith(path) && neededBy(join(path, page), modules).has(id) ? file : null);
}

/** Required modules by bundler and module, cached because the build needs these sets for each module. */
const needed = new WeakMap<Modules, Map<string, ReadonlySet<string>>>();

function neededBy(module: string, modules: Modules): ReadonlySet<string> {
  const known = needed.get(modules) ?? new Map<string, ReadonlySet<string>>();
  needed.set(modules, known);
  const before = known.get(module);
  if (before !== undefined) return before;
  const found = new Set([module]);
  // Iterating over a set also visits the elements that are added during the iteration.
  for (const id of found)
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  known.set(module, found);
  return found;
}
