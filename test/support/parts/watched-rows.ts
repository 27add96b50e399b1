/** Watched routes, which record that a request has reached them instead of running their handlers. */
import type { Access } from '../../../control-plane/api/route-access.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import type { CompatRoute } from '../../../control-plane/web/compat/compat-route.ts';
import type { CompatRows, Rows } from './running-api.ts';

/** A route that a request reached. */
export interface RowRun {
  /** Method and path, such as `GET /groups`. */
  readonly name: string;
  readonly access: Access | CompatRoute['access'];
}

/** Wraps routes; they work normally until watching starts. */
export class RowWatch {
  /** Routes reached since the last call. */
  private runs: RowRun[] = [];
  private isOn = false;

  /** From now on, handlers do nothing. */
  begin(): void {
    this.isOn = true;
  }

  /** Routes reached since the last call. */
  check(): RowRun[] {
    const { runs } = this;
    this.runs = [];
    return runs;
  }

  /** The native API, watched. */
  native(rows: Rows): Rows {
    return (parts) =>
      rows(parts).map((row): Route => ({
        ...row,
        run: async (...request) => (this.note(row) ? undefined : row.run(...request)),
      }));
  }

  /** The compatibility API, watched. */
  compat(rows: CompatRows): CompatRows {
    return (parts) =>
      rows(parts).map((row): CompatRoute => ({
        ...row,
        handle: async (request) => (this.note(row) ? { status: 200, body: {} } : row.handle(request)),
      }));
  }

  private note({ method, path, access }: Route | CompatRoute): boolean {
    if (this.isOn) this.runs.push({ name: `${method} ${path}`, access });
    return this.isOn;
  }
}
