/** The marks of a query: types only; `capability/` creates and checks them. */

/** Marks of one query over UDP, which its reply must repeat. */
export interface QueryMarks {
  /** The qname as sent: unchanged, or with letters in random case. */
  readonly name: Uint8Array;
  /** Client cookie, followed by the server cookie if it is known: 8 or 16 to 40 bytes; null = no cookie. */
  readonly cookie: Uint8Array | null;
}
