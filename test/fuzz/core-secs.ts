/** The time of fuzzing: an hour on a busy machine is as long as one on a quiet machine. */

/** Seconds that the threads of this process had a core. */
export function coreSecs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
