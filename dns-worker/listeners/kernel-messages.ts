/**
 * The kernel's structures for datagrams in batches (struct mmsghdr, msghdr, iovec; 64-bit): offsets and sizes in bytes.
 */

/** Offsets in struct mmsghdr. */
export const Message = {
  SIZE: 64,
  NAME: 0,
  NAME_LENGTH: 8,
  IOV: 16,
  IOV_COUNT: 24,
  CONTROL: 32,
  CONTROL_LENGTH: 40,
  FLAGS: 48,
  LENGTH: 56,
} as const;

/** Offsets in struct iovec. */
export const Iov = { SIZE: 16, BASE: 0, LENGTH: 8 } as const;

/** Room for a socket address. */
export const NAME_SIZE = 32;
/** Room for one IPV6_PKTINFO control message: 16 of head, 20 of struct in6_pktinfo, 4 of padding. */
export const CONTROL_SIZE = 40;
/** Offsets in the control message: ipi6_ifindex, and ipi_ifindex. */
export const Control = { IPV6_ADDRESS: 16, IPV6_INTERFACE: 32, IPV4_INTERFACE: 16 } as const;

/** Flags of recvmmsg and sendmmsg. */
export const MessageFlag = { TRUNC: 0x20, DONTWAIT: 0x40, WAITFORONE: 0x10000 } as const;
