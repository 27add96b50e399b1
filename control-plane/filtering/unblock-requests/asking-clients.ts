/** DNS access of clients that ask users to unblock a name, and the results of their queries. */

/** Outcome of DNS queries that clients could send. */
export interface AskingClients {
  /** Whether a client at this address may send DNS queries. */
  readonly admits: (address: string) => boolean;
  /** Status that a query of the client for this name would have. */
  readonly statusFor: (domain: string, address: string) => Promise<string>;
}
