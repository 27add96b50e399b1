/** Assigns modules to shared files, to save requests. */
import { join } from 'node:path';

/** The used part of the bundler's API. */
interface Modules {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

const OVERVIEW = join(import.meta.dirname, '..', 'src', 'pages', 'overview');

/** File name of modules that the overview shares with other pages. Most users open the overview first. */
export function sharedWithOverview(id: string, modules: Modules): string | null {
  return !id.startsWith(OVERVIEW) && neededByOverview(modules).has(id) ? 'widgets' : null;
}

/** Required modules by bundler, cached because the build calls this for each module. */
const needed = new WeakMap<Modules, ReadonlySet<string>>();

function neededByOverview(modules: Modules): ReadonlySet<string> {
  const known = needed.get(modules);
  if (known !== undefined) return known;
  const found = new Set([join(OVERVIEW, 'overview-page.tsx')]);
  // Iterating over a set also visits the elements that are added during the iteration.
  for (const id of found)
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  needed.set(modules, found);
  return found;
}
