/**
 * The kernel's structures for messages (struct mmsghdr, msghdr, iovec, cmsghdr): offsets and sizes in bytes, the same on
 * x64 and arm64.
 */

/** Offsets in struct mmsghdr: struct msghdr, then the length of the message. */
export const Message = {
  SIZE: 64,
  /** Size of struct msghdr, without the length that follows it in struct mmsghdr. */
  HEAD_SIZE: 56,
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

/** Offsets in struct cmsghdr; the data follows, and each message ends at a multiple of ALIGNMENT. */
export const ControlHead = { SIZE: 16, LENGTH: 0, LEVEL: 8, TYPE: 12, ALIGNMENT: 8 } as const;

/** Maximum size of a socket address. */
export const NAME_SIZE = 32;
/** Size of one IPV6_PKTINFO control message: 16 bytes of header, 20 of struct in6_pktinfo, 4 of padding. */
export const CONTROL_SIZE = 40;
/** Offsets in the control message: ipi6_ifindex, and ipi_ifindex. */
export const Control = { IPV6_ADDRESS: 16, IPV6_INTERFACE: 32, IPV4_INTERFACE: 16 } as const;

/** Flags of recvmmsg, sendmmsg, recvmsg and sendmsg. */
export const MessageFlag = {
  CTRUNC: 0x08,
  TRUNC: 0x20,
  DONTWAIT: 0x40,
  NOSIGNAL: 0x4000,
  WAITFORONE: 0x10000,
  CMSG_CLOEXEC: 0x4000_0000,
} as const;
