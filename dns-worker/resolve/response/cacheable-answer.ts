/** The result types of reading an upstream's response (`response-reader.ts`). */

/** Present if the chain of an answer ends at an alias, and the message contains nothing about its target. */
export interface LeftOut {
  /** Target in lower-case wire form. */
  readonly target: Uint8Array;
  /** Number of aliases in the chain. */
  readonly hops: number;
}

/** A normalised answer: everything a reply needs after the client's own header and question. */
export interface CacheableAnswer {
  /** Extended rcode of 12 bits, including the part from the OPT record. */
  readonly rcode: number;
  /** The upstream's AD bit. */
  readonly authenticated: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  /**
   * Answer and authority records, which follow the question in a reply; compression pointers assume that the qname is
   * at offset 12.
   */
  readonly body: Uint8Array;
  /** Offset of each TTL in `body`, ascending. */
  readonly ttlOffsets: Uint16Array;
  /**
   * Lifetime of the whole answer in seconds; 0 = do not cache. For a negative answer, at most the SOA's TTL and MINIMUM
   * (RFC 2308 section 5), and 0 without an SOA.
   */
  readonly minTtlSecs: number;
  /** Whether the answer is NXDOMAIN or NODATA, for the end of the chain if there is one. */
  readonly negative: boolean;
  /** Bytes of `body` in the answer section. */
  readonly answersLength: number;
  /** For a question with a subnet, the scope prefix length of the answer; 0 = for all clients. */
  readonly ecsScope: number;
  /** The extended error if the upstream blocked the name (RFC 8914). */
  readonly extendedError?: number | undefined;
  /** Present if this is only a part of an answer, which must be completed; it is not cached in this form. */
  readonly leftOut?: LeftOut | undefined;
}

/** Reason why a message was rejected. */
export type ResponseFault =
  /** The message cannot be parsed to its end: a fault of the server. */
  | 'malformed'
  /** The message can be parsed, but the form of some RDATA is wrong for its type: a fault of the domain. */
  | 'malformed-data'
  | 'not-a-response-to-this'
  | 'chain-too-long'
  /** Well-formed, but too long after names are rewritten; not a fault of the server. */
  | 'too-long'
  | 'referral'
  | 'other-ecs';

/** The result of reading a message. */
export type ResponseReading =
  | {
      readonly kind: 'answer';
      readonly answer: CacheableAnswer;
      /** Whether the message has an OPT record. */
      readonly hasEdns: boolean;
    }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'fault'; readonly fault: ResponseFault };
