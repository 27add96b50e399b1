/** The result types of reading an upstream's response (`response-reader.ts`). */

/** Where the chain of an answer ends at an alias, and the message says nothing of the name that it leads to. */
export interface LeftOut {
  /** Folded, in wire form. */
  readonly target: Uint8Array;
  /** Aliases in the chain. */
  readonly hops: number;
}

/** A normalised answer: everything a reply needs after the client's own header and question. */
export interface CacheableAnswer {
  /** 12 bits, the OPT record's part included. */
  readonly rcode: number;
  /** The upstream's AD bit. */
  readonly authenticated: boolean;
  readonly answerCount: number;
  readonly authorityCount: number;
  /** Answer and authority records as they follow the question; pointers count from offset 12 = qname. */
  readonly body: Uint8Array;
  /** Offset of each TTL in `body`, ascending. */
  readonly ttlOffsets: Uint16Array;
  /**
   * Lifetime of the whole, seconds; 0 = do not cache. For negatives it includes the SOA's TTL and MINIMUM (RFC 2308
   * section 5); a negative answer without SOA is 0.
   */
  readonly minTtlSecs: number;
  /** NXDOMAIN or NODATA, at the end of the chain if there is one. */
  readonly negative: boolean;
  /** Bytes of `body` in the answer section. */
  readonly answersLength: number;
  /** For a question with a subnet: the scope prefix of the answer, bits; 0 = for all clients. */
  readonly ecsScope: number;
  /** The extended error of a block by the upstream (RFC 8914); absent without one. */
  readonly extendedError?: number | undefined;
  /** Only a part of an answer, which must be completed; not cached as it is. */
  readonly leftOut?: LeftOut | undefined;
}

/** Reason why a message was rejected. */
export type ResponseFault =
  /** The message cannot be parsed to its end: the server's fault. */
  | 'malformed'
  /** The message can be read, but data in it is not what its type demands: the domain's fault. */
  | 'malformed-data'
  | 'not-a-response-to-this'
  | 'chain-too-long'
  /** Well-formed, but too long once rewritten; not a fault of the server. */
  | 'too-long'
  | 'referral'
  | 'other-ecs';

/** The result of reading a message. */
export type ResponseReading =
  | {
      readonly kind: 'answer';
      readonly answer: CacheableAnswer;
      /** There was an OPT record. */
      readonly hasEdns: boolean;
    }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'fault'; readonly fault: ResponseFault };
