/** Requests that change something, and the environment that prepares them. */
import type { Clock } from '../../../shared/clock.ts';

/** A request that changes something. */
export interface Mutation {
  readonly method: string;
  /** Path without the API prefix. */
  readonly path: string;
  readonly json?: unknown;
  /** Raw body, sent with `headers`. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Secret of the session of the request. */
  readonly session?: string;
}

/** Sends a request that must succeed, and returns the body of the response. */
export type Make = (method: string, path: string, json?: unknown) => Promise<Record<string, unknown>>;

/** Environment in which the API runs. */
export interface MutationFixture {
  readonly make: Make;
  /** A different URL for each list. */
  listUrl(): string;
  /** Puts the update of the source on hold. */
  hold(id: number): Promise<void>;
  /** Adds a line of TOML to the configuration file. */
  editConfig(line: string): Promise<void>;
  /** Restores the state after an installation: no password is set. */
  unset(): Promise<void>;
  /**
   * Sets the administrator's password to `PASSWORD`, removes the second factor, and logs in; returns the session's
   * secret.
   */
  signIn(): Promise<string>;
  /** Adds a node of this name that was last seen an hour ago. */
  addGoneNode(name: string): Promise<void>;
  /** Gives a user an enabled second factor. */
  giveFactor(userId: number): Promise<void>;
  /** Adds a client's request to unblock a name; returns the id of the request. */
  addUnblockRequest(clientId: number): Promise<number>;
  readonly clock: Clock;
}

export type Prepare = (fixture: MutationFixture, serial: number) => Promise<Omit<Mutation, 'method'>>;
