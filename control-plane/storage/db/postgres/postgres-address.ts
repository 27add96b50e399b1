/** Address of an embedded server. */

/** Address of a server. */
export interface PostgresAddress {
  /** Folder of a Unix socket, or a host. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Role that owns everything; the database is PostgreSQL's default one. */
export const ROLE = 'weir';
export const DATABASE = 'postgres';
