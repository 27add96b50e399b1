/** Compares stored entities with planned ones. Pure. */
import { isDeepStrictEqual } from 'node:util';

/** Whether an entity has these values already. */
export function sameFields(entity: object, fields: object): boolean {
  return Object.entries(fields).every(([name, value]) =>
    isDeepStrictEqual((entity as Record<string, unknown>)[name], value),
  );
}
