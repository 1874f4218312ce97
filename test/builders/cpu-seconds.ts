/** Time that this thread works. Other processes of the machine do not add to it. */
export function cpuSeconds(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}
