/** Compares builds of the dashboard by the names of their files, which are those of their content. */

/** `unreachable`: not known, as no dashboard was served. */
export type ServedBuild = 'same' | 'changed' | 'unreachable';

/** Compares the scripts of this page with those of a document. */
export function compareBuilds(own: readonly string[], html: string): ServedBuild {
  const served = Array.from(
    html.matchAll(/<script type="module"[^>]* src="([^"]+)"/g),
    ([, src]) => src ?? '',
  );
  if (served.length === 0) return 'unreachable';
  return namesOf(served) === namesOf(own) ? 'same' : 'changed';
}

function namesOf(paths: readonly string[]): string {
  return paths.map((path) => path.slice(path.lastIndexOf('/') + 1)).join(' ');
}
