/** What a table of rows is made of. */

/**
 * What features need together, each a function from its own parts to its rows: whoever holds them all can make the
 * table. Inferred, as a parameter is contravariant.
 */
export type PartsOf<Feature, Row> = (
  Feature extends (parts: infer Parts) => Row[] ? (parts: Parts) => void : never
) extends (parts: infer All) => void
  ? All
  : never;
