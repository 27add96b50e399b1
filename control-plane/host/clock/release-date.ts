/** The date of this version of Weir: a clock that shows an earlier time is wrong. `deploy/build/release` replaces it. */
export const RELEASE_DATE = '2026-11-28';
