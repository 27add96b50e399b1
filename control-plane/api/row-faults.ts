/**
 * Errors in the rows of a bulk request. The request is rejected as a whole, and all errors are reported with the index
 * of their row.
 */
import type { FieldProblem } from '../../shared/api/problem-details.ts';
import { ApiError, invalid } from './api-error.ts';

/** Maximum number of bytes of a bulk request: 10,000 rows with a comment of a few lines. */
export const BULK_LIMIT_BYTES = 16 * 1_048_576;

/** Collects errors; paths have the form `create.7.domain`. */
export class RowFaults {
  private readonly faults: FieldProblem[] = [];
  private hasInvalid = false;

  /** Records a row that is invalid in itself, whatever the database contains. */
  invalid(path: string, message: string): void {
    this.hasInvalid = true;
    this.faults.push({ path, message });
  }

  /** Records a row that conflicts with another row, or with existing data. */
  conflict(path: string, message: string): void {
    this.faults.push({ path, message });
  }

  /**
   * The result of `read`. If `read` throws 400, its invalid fields are recorded below `path`, and the result is
   * undefined.
   */
  collect<T>(path: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.fields === undefined) throw error;
      for (const field of error.fields) this.invalid(`${path}.${field.path}`, field.message);
      return undefined;
    }
  }

  /** Records the ids of rows to delete that do not exist. */
  missing(ids: readonly number[], found: Iterable<number>): void {
    const known = new Set(found);
    for (const [index, id] of ids.entries())
      if (!known.has(id)) this.invalid(`delete.${index}`, 'expected an existing id');
  }

  /** Records rows with the key of an earlier row. */
  repeated(keys: readonly (string | null)[], field: string): void {
    const first = new Map<string, number>();
    for (const [index, key] of keys.entries()) {
      if (key === null) continue;
      const earlier = first.get(key);
      if (earlier === undefined) first.set(key, index);
      else this.conflict(`create.${index}.${field}`, `is the same as in create.${earlier}`);
    }
  }

  /** Throws if errors were recorded. @throws {ApiError} 400, or 409 if all errors are conflicts */
  throwIfAny(): void {
    if (this.faults.length === 0) return;
    const shown = this.faults.slice(0, MAX_FAULTS);
    const refused = invalid(shown);
    if (this.hasInvalid) throw refused;
    throw new ApiError(409, 'conflict', refused.message, { fields: shown });
  }
}

/** Maximum number of reported errors. */
const MAX_FAULTS = 1000;
