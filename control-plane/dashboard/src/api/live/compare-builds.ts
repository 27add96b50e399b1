/** Compares builds of the dashboard by their file names, which contain hashes of the content. */

/** `unreachable`: unknown, because the server sent no dashboard. */
export type ServedBuild = 'same' | 'changed' | 'unreachable';

/** Compares the scripts of this page with those in an HTML document. */
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
