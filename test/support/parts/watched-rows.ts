/** Rows that are watched: which of them a request gets through to, without what they would do. */
import type { Access } from '../../../control-plane/api/route-access.ts';
import type { Route } from '../../../control-plane/api/route.ts';
import type { CompatRoute } from '../../../control-plane/web/compat/compat-route.ts';
import type { CompatRows, Rows } from './running-api.ts';

/** A row that ran. */
export interface RowRun {
  /** Method and path, such as `GET /groups`. */
  readonly name: string;
  readonly access: Access | CompatRoute['access'];
}

/** Puts the watch before rows; they work as ever until it begins. */
export class RowWatch {
  /** Rows that ran since the last look. */
  private runs: RowRun[] = [];
  private isOn = false;

  /** From now on, handlers do nothing. */
  begin(): void {
    this.isOn = true;
  }

  /** Rows that ran since the last look. */
  look(): RowRun[] {
    const { runs } = this;
    this.runs = [];
    return runs;
  }

  /** The native API under watch. */
  native(rows: Rows): Rows {
    return (parts) =>
      rows(parts).map((row): Route => ({
        ...row,
        run: async (...request) => (this.note(row) ? undefined : row.run(...request)),
      }));
  }

  /** The compatibility API under watch. */
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
