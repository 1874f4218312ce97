/** Loaded into a server under measurement: tells the CPU time of its whole process, all threads, when asked. */
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  process.send?.({ cpuMicros: userCPUTime + systemCPUTime, rssBytes: process.memoryUsage().rss });
});
// The channel alone is no reason to stay alive.
process.channel?.unref();

export {};
