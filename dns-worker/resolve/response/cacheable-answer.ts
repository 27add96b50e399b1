/** What reading an upstream's response comes to (`response-reader.ts`): the shapes, without the work. */

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
  /** Answer and authority records as they follow the question; pointers count from octet 12 = qname. */
  readonly body: Uint8Array;
  /** Offset of each TTL in `body`, ascending. */
  readonly ttlOffsets: Uint16Array;
  /**
   * Seconds for which all of it holds; 0 = do not cache. For negatives it includes the SOA's TTL and
   * MINIMUM (RFC 2308 section 5); a negative answer without SOA is 0.
   */
  readonly minTtlSecs: number;
  /** NXDOMAIN or NODATA, at the end of the chain if there is one. */
  readonly negative: boolean;
  /** Octets of `body` that are the answer section. */
  readonly answersLength: number;
  /** Where the question had a subnet: for how long a prefix of it this is the answer, bits; 0 = for everybody. */
  readonly subnetScope: number;
  /** What clients are told of a block that the upstream imposed (RFC 8914); absent where it told of none. */
  readonly extendedError?: number | undefined;
  /** It is part of an answer only, and is to be asked on for; not to be kept so. */
  readonly leftOut?: LeftOut | undefined;
}

/** Why a message was not taken. */
export type ResponseFault =
  /** The message is not to be read to its end: the server's own fault. */
  | 'malformed'
  /** The message can be read, but data in it is not what its type demands: the domain's fault. */
  | 'malformed-data'
  | 'not-a-response-to-this'
  | 'chain-too-long'
  | 'too-many-records'
  /** Well formed, and longer than a message once it is written again: no one's fault. */
  | 'too-long'
  | 'referral'
  | 'other-subnet';

/** What a message turned out to be. */
export type ResponseReading =
  | {
      readonly kind: 'answer';
      readonly answer: CacheableAnswer;
      /** There was an OPT record. */
      readonly hasEdns: boolean;
    }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'fault'; readonly fault: ResponseFault };
