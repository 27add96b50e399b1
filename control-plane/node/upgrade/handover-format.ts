/** Constants that both sides of a handover must agree on. */

/** The socket in the data directory at which a running Weir server hands over. */
export const HANDOVER_SOCKET = 'handover.sock';

/** This text changes with the protocol: two releases with different values do not hand over to each other. */
export const HANDOVER_FORMAT = 'weir handover 1';

/** Milliseconds of silence after which the other side counts as hung. */
export const SILENCE_MS = 20_000;
