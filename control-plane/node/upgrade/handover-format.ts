/** Constants that must be equal on both sides of a handover. */

/** Name of the socket in the data directory at which a running Weir server accepts requests for a handover. */
export const HANDOVER_SOCKET = 'handover.sock';

/**
 * Identifies the protocol: two releases with different values do not hand over to each other. Change it with the
 * protocol.
 */
export const HANDOVER_FORMAT = 'weir handover 1';

/** Milliseconds without a message after which the other side counts as hung. */
export const SILENCE_MS = 20_000;
