import type { Fault } from './fault.ts';

export const powerLoss: Fault = {
  name: 'power loss',
  summary: 'As a kill, and every byte of the journal that was not synced is gone, or is there in pieces.',
  scores: 'all sent',
  world: (chance) => ({ disk: { kind: 'forgetful', seed: chance.below(1_000_000) } }),
  async suffer({ chance, restart, acknowledged }) {
    await acknowledged(1 + chance.below(80));
    await restart('SIGKILL', { disk: { kind: 'forgetful', seed: chance.below(1_000_000) } });
    await acknowledged(1 + chance.below(80));
    await restart('SIGKILL');
    await acknowledged(20);
  },
};
