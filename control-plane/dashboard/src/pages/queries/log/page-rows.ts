/** Rows per page of the log. The number is small, because the server reads a whole page before it does other work. */
export const PAGE_ROWS = 100;
