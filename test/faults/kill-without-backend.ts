import type { Fault } from './fault.ts';

export const killWithoutBackend: Fault = {
  name: 'kill without backend',
  summary: 'SIGKILL while the backend is down; it comes back after the next start.',
  scores: 'all sent',
  async suffer({ chance, sink, restart, acknowledged }) {
    sink.behave('down');
    await acknowledged(20 + chance.below(60));
    await restart('SIGKILL');
    await acknowledged(20);
    sink.behave('well');
  },
};
