/** Comparison of user names. */

/**
 * Key that is equal for names of the same user, regardless of letter case and Unicode composition. At most six times
 * the bytes of the name.
 */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/**
 * Whether two names could be mistaken for each other, including letters of another width or form, such as "ａdmin" or
 * "groß", and invisible characters. Only one of two such names can exist, because logins and the audit log identify
 * users by name.
 */
export function looksLike(name: string, other: string): boolean {
  return seenName(name) === seenName(other);
}

/** Key that is equal for names that look alike. For an ASCII name, it is the name in lower case. */
export function seenName(name: string): string {
  const seen = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  // Convert to upper case first: ß becomes SS, and ſ becomes S.
  return seen.toUpperCase().toLowerCase().normalize('NFKC').trim();
}
