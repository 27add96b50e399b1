/** Rows per page of the log. The number is small, because the server does no other work while it reads a page. */
export const PAGE_ROWS = 100;
