/** Rows per page of the log. The number is small because the server reads a page in one step. */
export const PAGE_ROWS = 100;
