/** Loaded into a server under measurement: reports, when asked, the CPU time of its whole process, all threads, and a profile of its main thread. */
import { Session, type Profiler } from 'node:inspector/promises';

export interface Usage {
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

/** Fine enough for a pass of seconds; a finer one costs more than it shows. */
const sampleMicros = 500;
const session = new Session();

const answers: { readonly [question: string]: () => Promise<Usage | Profiler.Profile | true> } = {
  async usage() {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    return { cpuMicros: userCPUTime + systemCPUTime, rssBytes: process.memoryUsage().rss };
  },
  async startProfile() {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: sampleMicros });
    await session.post('Profiler.start');
    return true;
  },
  async stopProfile() {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return profile;
  },
};

process.on('message', (message) => {
  void answers[String(message)]?.().then((answer) => process.send?.(answer));
});
// The channel should not keep the process alive.
process.channel?.unref();
