/** Translates the lines in which the server reports faults. */
import type { FaultTexts } from '../../../../../shared/api/client/faults/fault-lines.ts';
import { readFault, writeFault } from '../../../../../shared/api/client/faults/read-fault.ts';

/**
 * Writes a line of the server with these texts; null if the line is not one of the known faults. `otherReason`
 * translates reasons in the line that are not known faults.
 */
export function translatedFault(
  line: string,
  texts: FaultTexts,
  otherReason = (reason: string): string => reason,
): string | null {
  const fault = readFault(line);
  if (fault === null) return null;
  return writeFault(
    fault,
    texts,
    (reason) => translatedFault(reason, texts, otherReason) ?? otherReason(reason),
  );
}
