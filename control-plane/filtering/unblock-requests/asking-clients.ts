/** Interface for DNS access of clients that request to unblock a name, and for the results of their queries. */

/** Determines the outcome of DNS queries that clients could send. */
export interface AskingClients {
  /** Whether a client at this address may send DNS queries. */
  readonly admits: (address: string) => boolean;
  /** Status that a query of the client for this name would have. */
  readonly statusFor: (domain: string, address: string) => Promise<string>;
}
