import type { Fault } from './fault.ts';

export const kill: Fault = {
  name: 'kill',
  summary: 'SIGKILL at a random moment under load, twice.',
  scores: 'all sent',
  async suffer({ chance, restart, acknowledged }) {
    for (let kills = 0; kills < 2; kills++) {
      await acknowledged(1 + chance.below(80));
      await restart('SIGKILL');
    }
    await acknowledged(20);
  },
};
