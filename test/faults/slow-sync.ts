import type { Fault } from './fault.ts';

export const slowSync: Fault = {
  name: 'slow fsync',
  summary: 'Every sync of the journal takes 200 ms, and the process is killed.',
  scores: 'all sent',
  world: () => ({ disk: { kind: 'slow', syncMs: 200 } }),
  async suffer({ chance, restart, acknowledged }) {
    await acknowledged(10 + chance.below(20));
    await restart('SIGKILL');
    await acknowledged(20);
  },
};
