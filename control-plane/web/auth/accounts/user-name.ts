/** User names as they are compared: in any letter case, and however their letters are composed. */

/** Equal for names that mean the same user. At most six times as many octets as the name. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
