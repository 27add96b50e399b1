/** The time unit of fuzzing: CPU seconds, so that a busy machine runs as many inputs as an idle one. */

/** CPU seconds of the threads of this process. */
export function coreSecs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
