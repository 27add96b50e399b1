/** The error for all files that cannot be imported. */
import { faultLine } from '../../../../shared/api/client/faults/fault-text.ts';
import type { UPLOAD_LINES, UploadCode } from '../../../../shared/api/client/faults/upload-lines.ts';
import type { Params } from '../../../../shared/policy/reasons/text-params.ts';

/** A file cannot be imported. The file is at fault, and the text is shown to users. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault';
}

/** The error with the text of a code. */
export function importFault<Code extends UploadCode>(
  code: Code,
  ...params: Params<(typeof UPLOAD_LINES)[Code], string | number>
): ImportFault {
  return new ImportFault(faultLine<Code>(code, ...params));
}
