/** Compares builds of the dashboard by the names of their files, which are those of their content. */

/** `unreachable`: not known, as no dashboard was served. */
export type ServedBuild = 'same' | 'changed' | 'unreachable';

/** Compares the entry of this page with that of a document. */
export function compareBuilds(own: string, html: string): ServedBuild {
  const served = /<script type="module"[^>]* src="([^"]+)"/.exec(html)?.[1];
  if (served === undefined) return 'unreachable';
  return fileOf(served) === fileOf(own) ? 'same' : 'changed';
}

function fileOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
