/** The one error of files that cannot be imported: it is the file's fault, and its text is for people. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault';
}
