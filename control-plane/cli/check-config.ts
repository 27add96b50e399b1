/** `weir check-config`: prints every error in the configuration, one per line. */
import { formatFault } from '../../config/config-fault.ts';
import type { ConfigResult } from '../../config/parse-config.ts';
import type { Terminal } from './terminal.ts';

/** Prints the errors of `result`, or that there are none; returns the exit status. */
export function checkConfig(result: ConfigResult, terminal: Terminal): 0 | 1 {
  if (!result.ok) {
    for (const fault of result.faults) terminal.err(formatFault(fault));
    return 1;
  }
  const { file, explicit } = result.value;
  const count = `${explicit.size} ${explicit.size === 1 ? 'key' : 'keys'} set`;
  terminal.out(`${file ?? 'no configuration file, the defaults'}: ok (${count})`);
  return 0;
}
