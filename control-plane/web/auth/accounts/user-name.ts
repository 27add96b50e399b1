/** User names as they are compared. */

/** Equal for names that mean the same user: in any letter case, and however their letters are composed. At most six times as many octets as the name. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/**
 * Whether a name would be taken for another: also with letters of another width or form, such as "ａdmin" or "groß", and
 * with characters that are not seen. Of two such names only one is given, as a login and the audit log go by names.
 */
export function looksLike(name: string, other: string): boolean {
  return seenName(name) === seenName(other);
}

/** Equal for names that look like each other; that of a user is the name in lower case, as those are ASCII. */
export function seenName(name: string): string {
  const seen = name.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  // Both ways, as some letters have no counterpart: ß is SS, and ſ is S.
  return seen.toUpperCase().toLowerCase().normalize('NFKC').trim();
}
