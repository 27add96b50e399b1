/** Name of the socket in the data directory through which the command line connects to Weir. */
export const SOCKET_NAME = 'weir.sock';
