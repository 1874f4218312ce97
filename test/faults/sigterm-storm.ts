import type { Fault } from './fault.ts';

export const sigtermStorm: Fault = {
  name: 'SIGTERM storm',
  summary: 'SIGTERM many times over while requests come and runs are open, three starts in a row.',
  scores: 'all sent',
  async suffer({ chance, service, restart, acknowledged }) {
    for (let stops = 0; stops < 3; stops++) {
      await acknowledged(10 + chance.below(40));
      for (let signals = 0; signals < 5; signals++) service().signal('SIGTERM');
      await restart('SIGTERM');
    }
    await acknowledged(20);
  },
};
