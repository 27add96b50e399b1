/** Address of an embedded server. */

/** Address of a server. */
export interface PostgresAddress {
  /** Directory of a Unix socket, or a host. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Role that owns all objects, and PostgreSQL's default database. */
export const ROLE = 'weir';
export const DATABASE = 'postgres';
