/** SQL for the changes in `policy_changes` since revision `$1`. */

/** The end of a SELECT statement: the changes of a table. */
export const changesOf = (name: string): string =>
  `FROM policy_changes WHERE table_name = '${name}' AND seq > (SELECT last_change FROM revisions WHERE id = $1)`;

/**
 * The first change of each row, which contains the row as it was before the change: key, was (null = it did not exist).
 */
export const firstChangesOf = (name: string): string =>
  `(SELECT DISTINCT ON (key) key, was ${changesOf(name)} ORDER BY key, seq)`;
