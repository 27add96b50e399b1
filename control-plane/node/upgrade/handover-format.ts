/** Constants that both sides of a handover must agree on. */

/** The file of the data directory that a running Weir hands over at. */
export const HANDOVER_SOCKET = 'handover.sock';

/** Changes with the protocol: two releases with different marks do not hand over to each other. */
export const HANDOVER_FORMAT = 'weir handover 1';

/** Milliseconds after which the other side counts as hung. */
export const SILENCE_MS = 20_000;
