/** Rows of a page of the log: few, as all of them are read in one go. */
export const PAGE_ROWS = 100;
