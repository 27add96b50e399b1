/** 0.1.0 is the oldest version whose databases and data directories Weir reads. What older ones made is refused unchanged. */

/** The migration that makes the schema of 0.1.0, as `schema_migrations` names it. */
const BASELINE = '0001_schema';

/** A Weir from before 0.1.0 made the database. */
export class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld';
}

/** @throws {SchemaTooOld} if the migrations of a database or a copy, by name, are those of a Weir from before 0.1.0 */
export function refuseOldMigrations(what: string, names: readonly string[]): void {
  if (names.length > 0 && !names.includes(BASELINE)) throw new SchemaTooOld(tooOld(what));
}

/** Says why something from before 0.1.0 is refused, and how to keep its settings. */
export function tooOld(what: string): string {
  return (
    `${what} was made by a Weir from before 0.1.0 and is left unchanged. To keep its settings, run "weir backup FILE" with ` +
    'the commit that made it, start this version with an empty data directory and an empty database, and run "weir restore FILE"'
  );
}
