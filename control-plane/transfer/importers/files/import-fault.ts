/** The error for all files that cannot be imported. The file is at fault, and the text is shown to users. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault';
}
