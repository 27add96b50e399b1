/** The marks of a query: shapes only; `capability/` makes and checks them. */

/** Marks of one query over UDP, which its reply must repeat. */
export interface QueryMarks {
  /** The qname as asked: the question's own, or with letters in random case. */
  readonly name: Uint8Array;
  /** Client cookie, and after it the server's if known: 8 or 16 to 40 bytes; null = no cookie. */
  readonly cookie: Uint8Array | null;
}
