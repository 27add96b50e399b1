/** The marks of a query: shapes only; `reply-proof.ts` makes and checks them. */

/** What one query carries for its reply to prove itself with. */
export interface QueryMarks {
  /** The qname as asked: the question's own, or with letters in random case. */
  readonly name: Uint8Array;
  /** Client cookie, and after it the server's if known: 8 or 16 to 40 octets. */
  readonly cookie: Uint8Array;
}
