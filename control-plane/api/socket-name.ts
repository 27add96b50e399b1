/** The file of the data directory that the command line reaches Weir at. */
export const SOCKET_NAME = 'weir.sock';
