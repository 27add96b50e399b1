/** Translates the lines in which the server reports faults. */
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { readFault, writeFault } from '../../../../../shared/api/client/faults/read-fault.ts';

/** Writes a line of the server with these texts; null if the line is not one of the known faults. */
export function translatedFault(line: string, texts: FaultTexts): string | null {
  const fault = readFault(line);
  return fault === null ? null : writeFault(fault, texts);
}
